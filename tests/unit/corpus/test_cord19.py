"""ir_datasets' own code for CORD-19, unmodified, on tiny files in its formats; one field of the documents as their text."""

import json

import pytest

from epic.corpus.text_files import read_qrels, read_queries
from tests.seeded import asked_of, run_in
from tests.seeded_cord19 import AGAIN, EMPTY, articles, seed_cord19, uid

PREPARE = """
import json, logging
from pathlib import Path
from epic.corpus.data import prepare_documents, prepare_queries
from epic.corpus.documents import open_documents
logging.basicConfig(level="INFO")
out = Path(OUT)
for field in ("abstract", None):
    prepare_documents("cord19/trec-covid", COUNT, out / f"{field}.json", field)
    documents = open_documents(out / f"{field}.json")
    ids = [doc_id for doc_id, _ in documents.span(range(len(documents)))]
    found = {"span": list(documents.span(range(len(documents)))), "texts": documents.texts(ids)}
    (out / f"{field}.texts.json").write_text(json.dumps(found | {"positions": documents.positions(ids)}))
prepare_queries("cord19/trec-covid", documents, out / "q.tsv", out / "r.txt", out / "c.json")
"""
REFUSED = """
from epic.corpus.data import prepare_documents
prepare_documents("cord19/trec-covid", 1, "never", FIELD)
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What the rules `data` and `queries` make of a seeded home, once with the abstracts and once with the usual text."""
    home, out = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("out")
    asked = seed_cord19(home)
    run = run_in(home, PREPARE.replace("OUT", repr(str(out))).replace("COUNT", str(len(articles()))))
    assert run.returncode == 0, run.stdout
    return out, asked, run.stdout, home


def read(prepared, name):
    return json.loads((prepared[0] / name).read_text())


def test_the_text_of_a_document_is_the_field_that_the_experiment_names(prepared):
    last = {article.uid: article for article in articles()}
    by_id = [last[article.uid] for article in articles()]
    assert read(prepared, "abstract.texts.json")["texts"] == [article.abstract for article in by_id]
    assert read(prepared, "None.texts.json")["texts"] == [f"{article.title} {article.abstract}" for article in by_id]
    assert sum(not text for text in read(prepared, "abstract.texts.json")["texts"]) == EMPTY


def test_of_rows_with_one_id_the_last_has_the_text_and_the_others_none(prepared):
    rows, found = articles(), read(prepared, "abstract.texts.json")
    hidden = range(len(AGAIN))
    assert [tuple(one) for one in found["span"]] == [
        (row.uid, "" if place in hidden else row.abstract) for place, row in enumerate(rows)
    ]
    places = {row.uid: place for place, row in enumerate(rows)}
    assert found["positions"] == [places[row.uid] for row in rows] and min(found["positions"]) == len(AGAIN)


def test_the_manifest_names_the_field_and_counts_rows_that_are_not_found(prepared):
    facts = {"documents": "cord19/trec-covid", "count": len(articles()), "encoding": "as ir_datasets gives it", "repeated": 4}
    assert read(prepared, "abstract.json") == facts | {"field": "abstract"}
    assert read(prepared, "None.json") == facts | {"field": None}
    assert f"{len(articles())} documents, 4 of them with the id of a later one" in prepared[2]


def test_queries_are_the_topics_titles_and_judgments_are_taken_as_they_are(prepared):
    out, asked, _, _ = prepared
    assert read_queries(out / "q.tsv") == asked and len(asked) == 20
    qrels, first = read_qrels(out / "r.txt"), asked_of("test")[0]
    assert {grade for judged in qrels.values() for grade in judged.values()} == {-1, 0, 1, 2}
    assert qrels["1"][uid(first.relevant[0])] == 2


@pytest.mark.parametrize("field", ["abstracts", "doc_id", "default_text", "__class__"])
def test_a_field_that_does_not_exist_is_refused_before_any_download(tmp_path, field):
    run = run_in(tmp_path, REFUSED.replace("FIELD", repr(field)))
    said = f"InputError: data.field: the documents of cord19/trec-covid have no field {field}; "
    assert run.returncode and said + "there are title, doi, date, abstract, or null for their usual text" in run.stdout
    assert "not delivered" not in run.stdout


def test_a_field_that_holds_no_text_is_refused(prepared):
    code = """
from epic.corpus.documents import Documents
documents = Documents("cord19/trec-covid", "abstract")
class Doc:
    doc_id, abstract = "x", ("a", "b")
documents._text(Doc())
"""
    run = run_in(prepared[3], code)
    assert "InputError: cord19/trec-covid: the field abstract of document x is a tuple, no text; choose another" in run.stdout
