"""Collections from folders: what is read, and what is refused with file and line."""

import gzip
import json

import pytest

from epic.data import prepare_documents, prepare_queries
from epic.documents import Documents, open_documents
from epic.files import InputError
from epic.folder import folder_of, resolve
from epic.records import read_qrels, read_queries, read_triples
from epic.triples import from_docpairs


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs.tsv").write_text("0\tthe first passage\n1\tcafé olé\nx7\t\n", encoding="utf-8")
    (tmp_path / "queries.test.tsv").write_text("q1\twhat comes first\nq2\tcoffee\n")
    (tmp_path / "qrels.test.txt").write_text("q1 0 0 1\nq2 0 1 1\nq2 0 x7 0\n")
    return tmp_path


def prepared(folder, tmp_path):
    prepare_documents(f"path:{folder}", 3, tmp_path / "manifest.json")
    documents = open_documents(tmp_path / "manifest.json")
    prepare_queries(f"path:{folder}#test", documents, tmp_path / "q.tsv", tmp_path / "r.txt")
    return documents


def test_documents_come_by_id_and_by_position(folder, tmp_path):
    documents = prepared(folder, tmp_path)
    assert len(documents) == 3
    assert documents.texts(["x7", "1", "1"]) == ["", "café olé", "café olé"]
    assert list(documents.span(range(1, 3))) == [("1", "café olé"), ("x7", "")]
    assert list(documents.span(range(1, 1))) == []
    assert documents.unknown(id_ for id_ in ("1", "9", "8")) == ["8", "9"]


def test_queries_and_judgments_are_written_as_plain_files(folder, tmp_path):
    prepared(folder, tmp_path)
    assert read_queries(tmp_path / "q.tsv") == {"q1": "what comes first", "q2": "coffee"}
    assert read_qrels(tmp_path / "r.txt") == {"q1": {"0": 1}, "q2": {"1": 1, "x7": 0}}


def test_an_unknown_document_is_an_error(folder, tmp_path):
    with pytest.raises(InputError, match="no document 9"):
        prepared(folder, tmp_path).texts(["0", "9"])


def test_an_edited_collection_is_read_anew(folder, tmp_path):
    prepared(folder, tmp_path)
    (folder / "docs.tsv").write_text("0\tchanged passage\n1\tb\nx7\tc\n")
    assert Documents(f"path:{folder}").texts(["0"]) == ["changed passage"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("docs.tsv", "0\ta\n1 no tab\n", r"docs\.tsv line 2: expected id TAB text"),
        ("docs.tsv", "0\ta\tb\n", r"docs\.tsv line 1: expected id TAB text, .*found 3"),
        ("docs.tsv", "0\ta\n0\tb\n", r"docs\.tsv line 2: the id 0 is given twice"),
        ("docs.tsv", "", r"docs\.tsv: the file is empty"),
        ("docs.tsv", "0\ta\n", r"has 1 documents, the experiment says 3"),
        ("docs.tsv", "0 0\ta\n", r"docs\.tsv line 1: .*the id without blanks"),
        ("queries.test.tsv", "q1\ta\nq2\t \n", r"queries\.test\.tsv: query q2 has no text"),
        ("queries.test.tsv", "q1\ta\n\tb\n", r"queries\.test\.tsv line 2: expected id TAB text"),
        ("qrels.test.txt", "q1 0 0 1\nq1 0 1\n", r"qrels\.test\.txt line 2: expected query id"),
        ("qrels.test.txt", "q1 0 0 yes\n", r"qrels\.test\.txt line 1: .*whole number"),
        (
            "qrels.test.txt",
            "q1 0 0 1\nq1 0 77 1\n",
            r"qrels\.test\.txt line 2: document 77 is judged but is not in the collection",
        ),
        (
            "qrels.test.txt",
            "q1 0 0 1\nq1 0 1 0\nq9 0 0 1\n",
            r"qrels\.test\.txt line 3: query q9 is judged but is not among the queries",
        ),
    ],
)
def test_what_is_malformed_is_named_with_file_and_line(folder, tmp_path, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        prepared(folder, tmp_path)


def test_a_missing_folder_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=str(tmp_path)):
        resolve("nowhere")


def test_a_folder_that_a_rule_makes_need_not_exist_and_keeps_its_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = folder_of("path:results/mini/boolq#dev")
    assert [str(path) for path in before] == [
        "results/mini/boolq/docs.tsv",
        "results/mini/boolq/queries.dev.tsv",
        "results/mini/boolq/qrels.dev.txt",
        "results/mini/boolq/docpairs.dev.tsv",
    ]
    (tmp_path / "results" / "mini" / "boolq").mkdir(parents=True)
    (tmp_path / "results" / "mini" / "boolq" / "docs.tsv").write_text("1\ta\n")
    assert folder_of("path:results/mini/boolq#dev") == before and len(Documents("path:results/mini/boolq")) == 1


@pytest.mark.parametrize("extra", ["docs.jsonl", "docs.tsv.gz", "queries.test.jsonl.gz", "qrels.test.txt.gz"])
def test_two_files_of_one_kind_are_refused_by_name(folder, extra):
    (folder / extra).write_bytes(b"")
    with pytest.raises(InputError, match=rf"{folder.name} has .* and .*{extra}|{folder.name} has {extra} and .*; keep one"):
        folder_of(f"path:{folder}#test")


def as_json_lines(folder, name):
    """Replace a TSV file by compressed JSON lines with other text."""
    lines = [line.split("\t") for line in (folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines()]
    (folder / f"{name}.tsv").unlink()
    texts = "".join(json.dumps({"id": text_id, "text": f"{text}\tand\nmore"}) + "\n" for text_id, text in lines)
    (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(texts.encode()))


def test_a_folder_of_compressed_json_lines_is_read_the_same_way(folder, tmp_path):
    as_json_lines(folder, "docs")
    as_json_lines(folder, "queries.test")
    (folder / "qrels.test.txt.gz").write_bytes(gzip.compress((folder / "qrels.test.txt").read_bytes()))
    (folder / "qrels.test.txt").unlink()
    documents = prepared(folder, tmp_path)
    assert documents.texts(["1", "x7"]) == ["café olé\tand\nmore", "\tand\nmore"]
    assert read_queries(tmp_path / "q.tsv") == {"q1": "what comes first and more", "q2": "coffee and more"}
    assert read_qrels(tmp_path / "r.txt")["q2"] == {"1": 1, "x7": 0}


def docpairs(folder, tmp_path, content, count=2):
    (folder / "docpairs.test.tsv.gz").write_bytes(gzip.compress(content.encode()))
    from_docpairs(f"path:{folder}#test", count, Documents(f"path:{folder}"), tmp_path / "t.tsv", tmp_path / "tq.tsv")
    return read_triples(tmp_path / "t.tsv")


def test_triples_of_ones_own_are_taken_in_file_order(folder, tmp_path):
    assert docpairs(folder, tmp_path, "q2\t1\tx7\nq2\t1\t0\nq1\t0\t1\n") == [("q2", "1", "x7"), ("q2", "1", "0")]
    assert read_queries(tmp_path / "tq.tsv") == {"q2": "coffee"}
    assert len(docpairs(folder, tmp_path, "q2\t1\tx7\n", count=9)) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q2\t1\tx7\nq2\t1\n", r"docpairs\.test\.tsv\.gz line 2: expected query TAB"),
        ("q2\t1\tx7\nq9\t1\t0\n", r"docpairs\.test\.tsv\.gz line 2: query q9 is not among the queries"),
        ("q2\t1\t0\nq2\t1\t77\n", r"docpairs\.test\.tsv\.gz line 2: document 77 is not in path:"),
    ],
)
def test_malformed_triples_of_ones_own_are_named(folder, tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        docpairs(folder, tmp_path, content)


def test_a_folder_without_triples_says_which_file_it_lacks(folder, tmp_path):
    with pytest.raises(InputError, match=r"#test has no docpairs; there is no .*docpairs\.test\.tsv"):
        from_docpairs(f"path:{folder}#test", 1, Documents(f"path:{folder}"), tmp_path / "t.tsv", tmp_path / "tq.tsv")


def test_a_folder_without_documents_is_no_collection(tmp_path):
    with pytest.raises(InputError, match="has no documents"):
        prepare_documents(f"path:{tmp_path}", 1, tmp_path / "manifest.json")


def test_a_file_that_was_refused_is_read_once_it_is_mended(folder, tmp_path):
    (folder / "docs.tsv").write_text("0\ta\n1 b\nx7\tc\n")
    with pytest.raises(InputError, match="line 2"):
        prepared(folder, tmp_path)
    (folder / "docs.tsv").write_text("0\ta\n1\tb\nx7\tc\n")
    assert prepared(folder, tmp_path).texts(["1"]) == ["b"]


def test_queries_of_ones_own_need_no_documents_beside_them(folder, tmp_path):
    (tmp_path / "own").mkdir()
    for name in ("queries.test.tsv", "qrels.test.txt"):
        (folder / name).rename(tmp_path / "own" / name)
    documents = Documents(f"path:{folder}")
    prepare_queries(f"path:{tmp_path}/own#test", documents, tmp_path / "q.tsv", tmp_path / "r.txt")
    assert len(read_queries(tmp_path / "q.tsv")) == 2


def test_the_manifest_changes_with_the_documents(folder, tmp_path):
    prepare_documents(f"path:{folder}", 3, tmp_path / "one.json")
    (folder / "docs.tsv").write_text("0\tother\n1\tb\nx7\tc\n")
    prepare_documents(f"path:{folder}", 3, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() != (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text())["encoding"] == "as given"
