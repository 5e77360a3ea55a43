"""Timings: every query is kept, exactly, and two systems are compared query by query."""

import json

import pytest

from epic.core.files import InputError
from epic.latency.timings import frame_of, overhead, read_totals, summary, write_latency
from tests.latency import ABOUT, total


def test_the_summary_is_in_milliseconds_and_every_query_is_kept(tmp_path):
    timings = {"warm": {"a": total(1), "b": total(3)}, "cold": {"a": total(10), "b": total(30)}}
    warm = frame_of(timings).xs("warm", level="pass")
    assert summary(warm)["total"] == {"mean": 2.0, "interval": [1.0, 3.0], "p50": 2.0, "p95": 2.9, "p99": 2.98}
    write_latency(timings, None, ABOUT, {"threads": 2}, tmp_path / "l.json", tmp_path / "l.tsv")
    lines = (tmp_path / "l.tsv").read_text().splitlines()
    assert lines[2].split("\t")[0::4] == ["b", "3000000"] and len(lines) == 5
    found = json.loads((tmp_path / "l.json").read_text())
    assert found["machine"]["threads"] == 2 and found["cold"]["total"]["mean"] == 20.0 and found["ms"]["total"]["mean"] == 2.0
    assert read_totals(tmp_path / "l.tsv").to_dict() == {"a": 1_000_000, "b": 3_000_000}  # without the cold ones


def test_the_file_has_a_line_for_each_query_of_each_pass(tmp_path):
    timings = {
        "warm": {"007": {"retrieve": 5, "total": 2**60 + 1}, "NA": {"retrieve": 1, "total": 2}},
        "cold": {"007": {"retrieve": 7, "total": 8}},
    }
    write_latency(timings, None, {}, {}, tmp_path / "l.json", tmp_path / "l.tsv")
    assert (tmp_path / "l.tsv").read_text().splitlines() == [
        "query_id\tpass\tretrieve_ns\ttotal_ns",
        "007\twarm\t5\t1152921504606846977",
        "NA\twarm\t1\t2",
        "007\tcold\t7\t8",
    ]
    assert read_totals(tmp_path / "l.tsv").to_dict() == {"007": 2**60 + 1, "NA": 2}  # exact, no floating point


def test_one_query_is_its_own_mean(tmp_path):
    write_latency({"warm": {"q": total(2)}}, "not here", ABOUT, {}, tmp_path / "l.json", tmp_path / "l.tsv")
    found = json.loads((tmp_path / "l.json").read_text())
    assert found["queries"] == 1 and found["cold"] is None and found["cold_skipped"] == "not here"
    assert found["ms"]["total"] == {"mean": 2.0, "interval": [2.0, 2.0], "p50": 2.0, "p95": 2.0, "p99": 2.0}
    assert list(found["ms"]) == ["retrieve", "score", "total"]


def test_totals_are_known_by_the_name_of_their_column(tmp_path):
    (tmp_path / "l.tsv").write_text("query_id\tpass\ttotal_ns\tload_ns\nb\twarm\t5\t1\na\tcold\t7\t2\na\twarm\t6\t2\n")
    assert list(read_totals(tmp_path / "l.tsv").items()) == [("b", 5), ("a", 6)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "query_id\tpass\ttotal_ns\n",
        "query_id\tpass\ttotal_ns\na\twarm\n",
        "query_id\tpass\ttotal_ns\na\twarm\t5\nb\twarm\t12",  # cut off within a number
        "query_id\tpass\ttotal_ns\na\twarm\tlong\n",
        "query_id\tpass\tload_ns\na\twarm\t5\n",
        "pass\tquery_id\ttotal_ns\nwarm\ta\t5\n",
        "query_id\tpass\ttotal_ns\na\twarm\t5\na\twarm\t6\n",  # a query twice in a pass
    ],
)
def test_what_is_no_table_of_timings_is_refused(tmp_path, text):
    (tmp_path / "broken.tsv").write_text(text)
    with pytest.raises(InputError, match=r"broken\.tsv: not a table of timings \(.+\); make it again"):
        read_totals(tmp_path / "broken.tsv")


def test_the_overhead_is_paired_by_query(tmp_path):
    for name, values in (
        ("system", {"a": 6, "b": 14}),
        ("first", {"b": 9, "a": 1}),
        ("other", {"a": 1}),
        ("others", {"a": 1, "c": 9}),
    ):
        timings = {"warm": {query_id: total(value) for query_id, value in values.items()}}
        write_latency(timings, "not here", ABOUT, {}, tmp_path / f"{name}.json", tmp_path / f"{name}.tsv")
    found = overhead(tmp_path / "system.tsv", tmp_path / "first.tsv")
    assert found["ms"]["mean"] == 5.0 and found["ms"]["interval"] == [5.0, 5.0] and found["speed_up"]["mean"] == 0.5
    assert found["speed_up"]["interval"] == pytest.approx([1 / 6, 9 / 14])  # one query alone, or the other
    for one, two, ms in (("system", "other", 5.0), ("other", "system", -5.0)):  # a slow row answers a part of the queries
        common = overhead(tmp_path / f"{one}.tsv", tmp_path / f"{two}.tsv")
        assert common["queries"] == 1 and common["ms"]["mean"] == ms
    for one, two in (("system", "others"), ("others", "system")):
        with pytest.raises(InputError, match=rf"{one}\.tsv and .*{two}\.tsv were not timed on the same queries; time both anew"):
            overhead(tmp_path / f"{one}.tsv", tmp_path / f"{two}.tsv")


@pytest.mark.parametrize("line", ["q\tcold\t5\n", "q\twarm\t-5\n"])
def test_timings_without_a_warm_pass_or_below_zero_are_refused(tmp_path, line):
    (tmp_path / "t.tsv").write_text("query_id\tpass\ttotal_ns\n" + line)
    with pytest.raises(InputError, match=r"t\.tsv: it has no warm pass, or times below zero"):
        read_totals(tmp_path / "t.tsv")
