"""A folder of one's own as a dataset of ir_datasets: compressed or not, with what it has and without what it lacks."""

import gzip
import json

from epic.corpus.data import prepare_queries
from epic.corpus.documents import Documents
from epic.corpus.folder import folder_of
from epic.corpus.folder_dataset import local_dataset
from epic.corpus.text_files import read_qrels, read_queries


def as_json_lines(folder, name):
    """Replace a TSV file by compressed JSON lines with other text."""
    lines = [line.split("\t") for line in (folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines()]
    (folder / f"{name}.tsv").unlink()
    texts = "".join(json.dumps({"id": text_id, "text": f"{text}\tand\nmore"}) + "\n" for text_id, text in lines)
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(texts.encode()))


def test_a_folder_of_compressed_json_lines_is_read_the_same_way(folder, prepared, tmp_path):
    as_json_lines(folder, "docs")
    as_json_lines(folder, "queries.test")
    (folder / "qrels.test.txt.gz").write_bytes(gzip.compress((folder / "qrels.test.txt").read_bytes()))
    (folder / "qrels.test.txt").unlink()
    documents = prepared()
    assert documents.texts(["1", "x7"]) == ["café olé\tand\nmore", "\tand\nmore"]
    assert read_queries(tmp_path / "q.tsv") == {"q1": "what comes first and more", "q2": "coffee and more"}
    assert read_qrels(tmp_path / "r.txt")["q2"] == {"1": 1, "x7": 0}


def test_queries_of_ones_own_need_no_documents_beside_them(folder, tmp_path):
    (tmp_path / "own").mkdir()
    for name in ("queries.test.tsv", "qrels.test.txt"):
        (folder / name).rename(tmp_path / "own" / name)
    documents = Documents(f"path:{folder}")
    prepare_queries(f"path:{tmp_path}/own#test", documents, tmp_path / "q.tsv", tmp_path / "r.txt", tmp_path / "c.json")
    assert len(read_queries(tmp_path / "q.tsv")) == 2


def test_documents_come_in_file_order_and_are_counted(folder):
    docs = local_dataset(folder_of(f"path:{folder}"))
    assert [(doc.doc_id, doc.default_text()) for doc in docs.docs_iter()] == [
        ("0", "the first passage"),
        ("1", "café olé"),
        ("x7", ""),
    ]
    assert docs.docs_count() == 3


def test_the_store_of_a_file_that_changed_is_another_one(folder):
    paths = [local_dataset(folder_of(f"path:{folder}")).docs_store().path for _ in range(2)]
    (folder / "docs.tsv").write_text("0\tthe first passage, at length\n")
    paths.append(local_dataset(folder_of(f"path:{folder}")).docs_store().path)
    assert paths[0] == paths[1] != paths[2] and "docs.pklz4" in str(paths[0])


def test_judgments_and_triples_are_read_with_their_grades_and_in_their_order(folder):
    (folder / "docpairs.test.tsv").write_text("q2\t1\tx7\nq1\t0\t1\n")
    found = local_dataset(folder_of(f"path:{folder}#test"))
    assert list(found.qrels_iter()) == [("q1", "0", 1), ("q2", "1", 1), ("q2", "x7", 0)] and found.qrels_defs() == {}
    assert list(found.docpairs_iter()) == [("q2", "1", "x7"), ("q1", "0", "1")]


def test_what_a_folder_lacks_its_dataset_lacks(tmp_path):
    (tmp_path / "queries.tsv").write_text("q\twhat\n")
    found = local_dataset(folder_of(f"path:{tmp_path}"))
    assert [query.default_text() for query in found.queries_iter()] == ["what"]
    assert not any(hasattr(found, name) for name in ("docs_store", "qrels_iter", "docpairs_iter"))
