"""Runs by Terrier: what goes to PyTerrier and what is made of its answer, with a stand-in for PyTerrier."""

import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from epic.__main__ import main
from epic.core.files import InputError
from epic.corpus.runs import ranked_lists, read_run
from epic.first_stage.terrier import run_of, terrier_run


class Indexer:
    """Keeps what it is given; as PyTerrier's, it goes once through the documents."""

    made: dict

    def __init__(self, path, *, meta, text_attrs):
        assert meta == {"docno": 512} and text_attrs == ["text"] and path.startswith("/")

    def index(self, documents):
        Indexer.made = list(documents)
        return "the index"


class Retriever:
    """Answers every query with the documents that share a word with it, in the order in which they were indexed."""

    def __init__(self, index, *, wmodel, num_results):
        assert (index, wmodel) == ("the index", "DPH")
        self.hits = num_results

    def transform(self, queries):
        found = []
        for query in queries.itertuples():
            words = set(query.query.split())
            matching = [doc["docno"] for doc in Indexer.made if words & set(doc["text"].split())][: self.hits]
            found += [(query.qid, docno, rank, 9.5 - rank) for rank, docno in enumerate(matching)]
        return pd.DataFrame(found[::-1], columns=["qid", "docno", "rank", "score"])


@pytest.fixture
def pyterrier(monkeypatch):
    monkeypatch.setitem(
        sys.modules, "pyterrier", SimpleNamespace(terrier=SimpleNamespace(IterDictIndexer=Indexer, Retriever=Retriever))
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs.tsv").write_text("a\tpool price\nb\t\nc\tprice\nd\tx\n")
    (tmp_path / "queries.test.tsv").write_text("q2\tthe  price\nq1\tnothing\nq0\tpool x\n")
    (tmp_path / "qrels.test.txt").write_text("q2 0 a 1\n")
    return tmp_path


def test_the_run_has_every_query_that_is_answered_in_the_order_of_the_queries(pyterrier, folder):
    out = folder / "dph.trec"
    assert main(["terrier", f"path:{folder}#test", "--field", "text", "--hits", "2", "--out", str(out)]) == 0
    assert Indexer.made[:2] == [{"docno": "a", "text": "pool price"}, {"docno": "b", "text": ""}]  # empty ones, too
    assert out.read_text().splitlines()[0] == "q2 Q0 a 1 9.5 DPH"
    found = [(query_id, [hit.doc_id for hit in hits]) for query_id, hits in ranked_lists(out, "DPH")]
    assert found == [("q2", ["a", "c"]), ("q0", ["a", "d"])]


def test_of_a_document_that_comes_twice_the_better_hit_stays():
    found = [("q", "b", 1, 2.0), ("q", "a", 0, 3.0), ("q", "a", 2, 1.0)]
    assert run_of(found, {"q": "", "r": ""}) == {"q": [("a", 3.0), ("b", 2.0)]}


def test_a_row_with_the_id_of_a_later_one_is_indexed_as_well(pyterrier, folder, monkeypatch):
    monkeypatch.setattr("epic.corpus.documents.Documents._hidden", frozenset({0}))
    terrier_run(f"path:{folder}#test", None, "DPH", 9, folder / "out")
    assert Indexer.made[0]["text"] == "pool price" and read_run(folder / "out")["q0"][0].doc_id == "a"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (None, "PyTerrier 1.0 is not installed .*; pip install python-terrier==1.0"),
        (SimpleNamespace(), "PyTerrier 1.0 is not installed"),
        (SimpleNamespace(terrier=SimpleNamespace(IterDictIndexer=1)), "no terrier.Retriever: it is older than 1.0; pip install"),
    ],
)
def test_without_pyterrier_it_is_said_how_to_install_it(folder, monkeypatch, module, said):
    monkeypatch.setitem(sys.modules, "pyterrier", module)
    with pytest.raises(InputError, match=said):
        terrier_run(f"path:{folder}#test", None, "DPH", 9, folder / "out")


def test_a_field_that_does_not_exist_is_refused_before_anything_is_indexed(pyterrier, folder, capsys):
    assert main(["terrier", f"path:{folder}#test", "--field", "abstract", "--out", str(folder / "out")]) == 1
    assert "have no field abstract; there are text" in capsys.readouterr().err
