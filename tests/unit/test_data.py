"""Collections from folders: what is read, and what is refused with file and line."""

import pytest

from epic.data import Documents, open_documents, prepare_documents, prepare_queries, read_qrels, read_queries
from epic.files import InputError
from epic.folder import resolve


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
    from epic import data

    data.load.cache_clear()
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
        ("qrels.test.txt", "q1 0 77 1\n", r"document 77 is judged but is not in the collection"),
        ("qrels.test.txt", "q9 0 0 1\n", r"query q9 is judged but is not among the queries"),
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
