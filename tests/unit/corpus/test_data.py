"""Collections made ready: what is written, and what is refused with file and line."""

import json

import pytest

from epic.core.files import InputError
from epic.corpus.data import prepare_documents
from epic.corpus.query_counts import read_counts
from epic.corpus.text_files import read_qrels, read_queries


def test_queries_and_judgments_are_written_as_plain_files(prepared, tmp_path):
    prepared()
    assert read_queries(tmp_path / "q.tsv") == {"q1": "what comes first", "q2": "coffee"}
    assert read_qrels(tmp_path / "r.txt") == {"q1": {"0": 1}, "q2": {"1": 1, "x7": 0}}
    assert read_counts(tmp_path / "c.json")[:3] == (2, 2, 3)


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
        ("qrels.test.txt", "", r"qrels\.test\.txt: the file is empty; expected a line for each judgment"),
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
def test_what_is_malformed_is_named_with_file_and_line(folder, prepared, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=message):
        prepared()


def test_the_manifest_changes_with_the_documents(folder, tmp_path):
    prepare_documents(f"path:{folder}", 3, tmp_path / "one.json")
    (folder / "docs.tsv").write_text("0\tother\n1\tb\nx7\tc\n")
    prepare_documents(f"path:{folder}", 3, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() != (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text())["encoding"] == "as given"
