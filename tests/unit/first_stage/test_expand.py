"""Predicted queries: docTTTTTquery's files, matched by position and counted."""

import gzip
import json

import pytest

from epic.core.files import InputError
from epic.first_stage.expand import expand
from epic.first_stage.predicted_queries import predicted_at, source_of
from tests.predicted import NAME, contents


def test_a_passage_is_followed_by_its_predicted_queries(documents, samples, tmp_path):
    expand(documents, samples, 2, None, tmp_path / "out")
    found = contents(tmp_path / "out")
    assert [line["id"] for line in found] == ["0", "1", "2", "3"]
    assert found[2]["contents"] == "deux café s0 d2 s1 d2"
    assert json.loads((tmp_path / "out" / "count").read_text()) == {"documents": 4, "with_text": 4, "absent": 0}


def test_anserini_reads_nothing_but_passages(documents, samples, tmp_path):
    """It takes every file with an ending for a collection, and says with a stack trace that it is none."""
    expand(documents, samples, 2, None, tmp_path / "out")
    assert {path.suffix for path in (tmp_path / "out").iterdir() if path.name != "count"} == {".jsonl"}


def test_without_predictions_the_passage_stands_alone_and_empty_ones_are_counted(documents, tmp_path):
    expand(documents, None, None, None, tmp_path / "out")
    assert contents(tmp_path / "out")[1]["contents"] == "one"
    assert json.loads((tmp_path / "out" / "count").read_text()) == {"documents": 4, "with_text": 3, "absent": 0}


@pytest.mark.parametrize(("lines", "said"), [(0, "for 3 passages"), (2, "for 5 passages"), (5, "for 8 passages")])
def test_predictions_for_another_number_of_passages_are_refused(documents, samples, tmp_path, lines, said):
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * lines)
    with pytest.raises(InputError, match=f"{said}, but the collection has 4"):
        expand(documents, samples, 2, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_surplus_predictions_are_noticed_wherever_files_end(documents, samples, tmp_path, monkeypatch, size):
    monkeypatch.setattr("epic.first_stage.expand.DOCS_PER_FILE", size)
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * 4)
    with pytest.raises(InputError, match="for 7 passages, but the collection has 4"):
        expand(documents, samples, 2, None, tmp_path / "out")


def test_the_source_is_found_from_its_files(samples, tmp_path):
    assert source_of([]) is None
    assert source_of(sorted(map(str, samples.iterdir()))) == samples
    assert source_of(str(tmp_path / "p.zip")) == tmp_path / "p.zip"


def records(queries=("a", "b", "c"), ids=("0", "1", "2", "3")):
    return "".join(json.dumps({"id": i, "predicted_queries": [f"{query}{i}" for query in queries]}) + "\n" for i in ids)


@pytest.mark.parametrize("name", ["d2q.jsonl", "d2q.jsonl.gz"])
def test_json_lines_are_read_and_their_ids_are_checked(documents, tmp_path, name):
    opened = gzip.open if name.endswith("gz") else open
    with opened(tmp_path / name, "wt") as stream:
        stream.write(records())
    expand(documents, tmp_path / name, 2, None, tmp_path / "out")
    assert [line["contents"] for line in contents(tmp_path / "out")] == ["zero a0 b0", "one a1 b1", "deux café a2 b2", " a3 b3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (records(ids=("0", "2", "1", "3")), "line 2: passage 2 stands where 1 is expected"),
        (records(queries=("a",)), "line 1: 1 predicted queries of the 2 asked for"),
        (records() + '{"id": "4"}\n', "line 5: expected id and predicted_queries"),
        (records(ids=("0", "1")), "for 2 passages, but the collection has 4"),
    ],
)
def test_json_lines_that_do_not_fit_are_refused_by_line(documents, tmp_path, text, said):
    (tmp_path / "d2q.jsonl").write_text(text)
    with pytest.raises(InputError, match=said):
        expand(documents, tmp_path / "d2q.jsonl", 2, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_predictions_are_found_by_position_and_are_those_that_expansion_appends(collection_of, samples, tmp_path):
    collection = collection_of("price", "price of pool", "deux café", "")
    expand(collection, samples, 2, None, tmp_path / "out")
    assert contents(tmp_path / "out")[1]["contents"] == "price of pool s0 d1 s1 d1"
    wanted = dict(zip("13", collection.positions("13"), strict=True))
    assert predicted_at(samples, 2, wanted) == {"1": "s0 d1 s1 d1", "3": "s0 d3 s1 d3"} and predicted_at(samples, 2, {}) == {}
    with pytest.raises(InputError, match="it ends before the queries that were predicted for passage 9"):
        predicted_at(samples, 2, {"0": 0, "9": 4})


def test_a_passage_of_blanks_of_any_kind_is_a_passage_without_text(collection_of, tmp_path):
    """Java's trim, by which Anserini skips a document, knows other blanks than Unicode does."""
    expand(collection_of("\u00a0", "\u3000 \u2003", "\x01", "\x01\u00a0\x02", " ", "\u00a0x"), None, None, None, tmp_path / "out")
    assert [line["contents"] for line in contents(tmp_path / "out")] == ["", "", "", "", "", "\u00a0x"]
    assert json.loads((tmp_path / "out" / "count").read_text()) == {"documents": 6, "with_text": 1, "absent": 0}


def test_predictions_without_end_are_not_counted_to_the_end(documents, samples, tmp_path, monkeypatch):
    monkeypatch.setattr("epic.first_stage.expand.COUNTED", 3)
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * 1000)
    with pytest.raises(InputError, match="for 11 passages, but the collection has 4"):
        expand(documents, samples, 2, None, tmp_path / "out")
