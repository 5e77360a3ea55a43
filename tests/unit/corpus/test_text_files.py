"""Texts, judgments and triples of plain files: what is read, and what is refused with file, line and remedy."""

import gzip
import json

import pytest

from epic.core.files import InputError
from epic.corpus.text_files import as_id, judgments, read_triples, texts


def lines_of(tmp_path, name, content):
    """A file with this content, compressed where its name says so."""
    path, data = tmp_path / name, content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") and isinstance(content, str) else data)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.tsv", "1\tcafé\nx7\t\n"),
        ("t.tsv", "1\tcafé\r\nx7\t\r\n"),
        ("t.tsv", "\ufeff1\tcafé\nx7\t"),
        ("t.tsv.gz", "1\tcafé\nx7\t\n"),
        ("t.jsonl", '{"id": "1", "text": "café"}\n{"id": "x7", "text": ""}\n'),
        ("t.jsonl", '\ufeff{"id": 1, "contents": "caf\\u00e9"}\r\n{"_id": "x7", "text": "", "title": "ignored"}\r\n'),
        ("t.jsonl.gz", '{"doc_id": "1", "text": "café"}\n{"query_id": "x7", "contents": ""}\n'),
    ],
)
def test_the_same_texts_come_from_every_format(tmp_path, name, content):
    assert list(texts(lines_of(tmp_path, name, content))) == [("1", "café"), ("x7", "")]


def test_json_lines_may_hold_tabs_newlines_and_anything_else_but_zero_bytes(tmp_path):
    text = 'a\tb\nc "d" \u2028 \\ \U0001f41d'
    path = lines_of(tmp_path, "t.jsonl", json.dumps({"id": "1", "text": text}) + "\n")
    assert dict(texts(path)) == {"1": text}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.tsv", "1\ta\n2 b\n", r"t\.tsv line 2: expected id TAB text, .*found 1 field.*'2 b'"),
        ("t.tsv", "1\ta\tb\n", r"t\.tsv line 1: .*found 3 field.*can be given as \.jsonl"),
        ("t.tsv", "1\ta\n\n", r"t\.tsv line 2: expected"),
        ("t.tsv.gz", "1\ta\n1\tb\n", r"t\.tsv\.gz line 2: the id 1 is given twice"),
        ("t.tsv", "", r"t\.tsv: the file is empty"),
        ("t.tsv.gz", "", r"t\.tsv\.gz: the file is empty"),
        ("t.jsonl", "", r"t\.jsonl: the file is empty"),
        ("t.tsv", b"1\ta\n2\t\xff\n", r"t\.tsv line 2: not UTF-8"),
        ("t.tsv.gz", b"1\tnot compressed\n", r"t\.tsv\.gz after line 0: damaged gzip"),
        ("t.tsv.gz", gzip.compress(b"1\ta\n2\tb\n", mtime=0)[:-9], r"t\.tsv\.gz after line \d+: damaged gzip"),
        ("t.jsonl", '{"id": "1", "text": "a"}\n{"id": "2"', r"t\.jsonl line 2: not JSON"),
        ("t.jsonl", '{"id": "1", "text": "a"}\n\n', r"t\.jsonl line 2: not JSON"),
        ("t.jsonl", '["1", "a"]\n', r"t\.jsonl line 1: expected an object"),
        ("t.jsonl", '{"id": "1"}\n', r"t\.jsonl line 1: the object has no text \(or contents\)"),
        ("t.jsonl", '{"text": "a"}\n', r"t\.jsonl line 1: the object has no id \(or _id, doc_id, query_id\)"),
        ("t.jsonl", '{"id": "1", "doc_id": "2", "text": "a"}\n', r"line 1: the object has id and doc_id; keep one"),
        (
            "t.jsonl",
            '{"id": "a b", "text": "a"}\n',
            r"line 1: the id must be a string without blanks or a whole number, found 'a b'",
        ),
        ("t.jsonl", '{"id": true, "text": "a"}\n', r"line 1: the id must be .*found True"),
        ("t.jsonl", '{"id": 1.5, "text": "a"}\n', r"line 1: the id must be .*found 1\.5"),
        ("t.jsonl", '{"id": "", "text": "a"}\n', r"line 1: the id must be .*found ''"),
        ("t.jsonl", '{"id": "1", "text": null}\n', r"line 1: the text must be a string, found None"),
        ("t.jsonl", '{"id": "1", "text": "\\ud83d"}\n', r"line 1: not JSON .*surrogates not allowed"),
        ("t.jsonl", '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n', r"line 2: the id 1 is given twice"),
        ("t.jsonl", '{"id": "1", "text": "a\\u0000"}\n', r"line 1: not JSON \(a text holds a zero byte"),
        ("t.jsonl", '{"id": "1", "id": "2", "text": "a"}\n', r"line 1: not JSON \(the key 'id' is given twice"),
        ("t.jsonl", '{"id": "1", "text": "a", "x": ' + "[" * 100_000 + "\n", r"line 1: not JSON \(values are nested too deeply"),
        ("t.jsonl", '{"id": ' + "9" * 100_000 + ', "text": "a"}\n', r"line 1: not JSON \(Exceeds the limit"),
        ("t.jsonl", '{"id": "a\\u0001", "text": "a"}\n', r"line 1: the id must be"),
        ("t.jsonl", '{"id": "a\\n", "text": "a"}\n', r"line 1: the id must be"),
        ("t.tsv", "1\ta\x00\n", r"t\.tsv line 1: a zero byte"),
        ("t.tsv", "1\x01\ta\n", r"t\.tsv line 1: expected id TAB text"),
        ("t.tsv", "1\u200b\ta\n", r"t\.tsv line 1: expected id TAB text"),
        ("t.tsv", "1\u00a0x\ta\n", r"t\.tsv line 1: expected id TAB text"),
    ],
)
def test_a_malformed_text_is_named_with_file_and_line(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        list(texts(lines_of(tmp_path, name, content)))


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.txt.gz"])
def test_judgments_are_read_in_order_and_may_be_repeated(tmp_path, name):
    path = lines_of(tmp_path, name, "q1 0 a 1\r\nq1\tQ0\tb\t-1\nq1 0 a 1\nq1 0 c 1000\nq1 0 d -1000\n")
    assert list(judgments(path)) == [("q1", "a", 1), ("q1", "b", -1), ("q1", "a", 1), ("q1", "c", 1000), ("q1", "d", -1000)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 0 a 1\nq1 0 a\n", r"line 2: expected query id, 0, document id, relevance"),
        ("q1 0 a yes\n", "line 1: .*whole number"),
        ("q1 0 a ²\n", "line 1: .*whole number"),
        ("q1 0 a 1-\n", "line 1: .*whole number"),
        ("q1 0 a 1000000000\n", "line 1: a grade of 1000000000 is not within plus or minus 1000; trec_eval reserves memory"),
        ("q1 0 a 1001\n", "line 1: a grade of 1001"),
        ("q1 0 a -1001\n", "line 1: a grade of -1001"),
        (f"q1 0 a {'9' * 5000}\n", "line 1: a grade of 99999999999999999999 is"),
        ("", r"qrels\.txt: the file is empty; expected a line for each judgment"),
        ("q1 0 a 1\nq2 0 a 0\nq1 0 a 2\n", "line 3: q1 a is judged 2, above 1; keep one"),
        ("q1 0 a\x01 1\n", "line 1: expected query id"),
        ("", "qrels.txt: the file is empty"),
    ],
)
def test_a_malformed_judgment_is_named_with_file_and_line(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        list(judgments(lines_of(tmp_path, "qrels.txt", content)))


def test_the_highest_and_the_lowest_grades_are_read(tmp_path):
    assert [found.relevance for found in judgments(lines_of(tmp_path, "q.txt", "q 0 a 1000\nq 0 b -1000\n"))] == [1000, -1000]


def test_an_empty_file_of_triples_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"t\.tsv: the file is empty"):
        read_triples(lines_of(tmp_path, "t.tsv", ""))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a", "a"),
        (7, "7"),
        ("é-1", "é-1"),
        (True, None),
        (1.0, None),
        ("", None),
        ("a b", None),
        ("a\n", None),
        ("x" * 4000, "x" * 4000),
        ("x" * 4001, None),
        ([1], None),
    ],
)
def test_what_can_be_an_id(value, found):
    assert as_id(value) == found


@pytest.mark.parametrize("content", ["q\ta\tb\nq\ta\n", "q\ta\tb\nq a b\n", "q\ta\tb\nq\t\tb\n", "q\ta\tb\nq\ta\tb\tc\n"])
def test_a_malformed_triple_is_named_with_file_and_line(tmp_path, content):
    with pytest.raises(InputError, match=r"t\.tsv\.gz line 2: expected query TAB relevant TAB other id"):
        read_triples(lines_of(tmp_path, "t.tsv.gz", content))
