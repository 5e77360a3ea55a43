"""Rows and the table: verdicts, order, marks, forms."""

import csv
import io
import json

import pytest

from epic.rows import comparison_of, render_row, verdict, write_row
from epic.table import build, escape, latex, markdown, write_table


def entry(value=0.3, query_set="test", tolerance=0.01, metric="RR@10", source="paper"):
    return {"source": source, "query_set": query_set, "metric": metric, "value": value, "tolerance": tolerance}


@pytest.mark.parametrize(
    ("published", "ours", "expected"),
    [
        (entry(0.3), {"test": {"RR@10": 0.309}}, "match"),
        (entry(0.3), {"test": {"RR@10": 0.311}}, "above"),
        (entry(0.3), {"test": {"RR@10": 0.289}}, "below"),
        (entry(0.3, query_set="dev"), {"test": {"RR@10": 0.3}}, "not comparable"),
        (entry(0.3, tolerance=None), {"test": {"RR@10": 0.3}}, "not comparable"),
        (entry(0.3), {}, "not run"),
    ],
)
def test_a_verdict_is_given_only_against_the_same_query_set(published, ours, expected):
    assert verdict(published, ours) == expected


def row(**changes):
    found = {
        "id": "a",
        "label": "A & B_1",
        "group": "G",
        "kind": "model",
        "settings": {"keep": 10},
        "metrics": {},
        "published": [],
    }
    return found | changes


def test_ours_is_taken_from_the_published_query_set_where_it_was_run():
    both = {"dev": {"RR@10": 0.2}, "test": {"RR@10": 0.4}}
    assert comparison_of(row(metrics=both, published=[entry(query_set="dev") | {"verdict": "below"}]), "test")["ours"] == 0.2
    assert (
        comparison_of(row(metrics=both, published=[entry(query_set="other") | {"verdict": "not comparable"}]), "test")["ours"]
        == 0.4
    )
    assert comparison_of(row(metrics=both), "test")["verdict"] == "not published"


@pytest.fixture
def records():
    rows = [
        row(id="a", metrics={"test": {"RR@10": 0.31}}, published=[entry() | {"verdict": "match"}, entry(48, metric="ms/query")]),
        row(id="b", published=[entry(0.25) | {"verdict": "not run"}], group="H"),
    ]
    tests = [
        {"system": "a", "baseline": "b", "mark": "x", "query_set": "test", "significant": True},
        {"system": "a", "baseline": "b", "mark": "y", "query_set": "other", "significant": True},
        {"system": "a", "baseline": "b", "mark": "z", "query_set": "test", "significant": False},
    ]
    return build(rows, {"a": {"ms": {"total": {"mean": 12.34}}}}, tests, "test")


def test_a_record_holds_difference_marks_and_latency(records):
    assert records[0]["difference"] == pytest.approx(0.01) and records[0]["marks"] == "x"
    assert records[0]["published_ms"] == 48 and records[0]["ours_ms"] == 12.34
    assert records[1]["ours"] is None and records[1]["verdict"] == "not run"


def test_markdown_shows_groups_and_rows_that_were_not_run(records):
    text = markdown(records, "caption")
    assert text.splitlines()[2:6] == [
        "| **G** | | | | | | | |",
        "| A & B_1 | test | 0.300 | 0.3100x | +0.0100 | 48 | 12.3 | match |",
        "| **H** | | | | | | | |",
        "| A & B_1 | - | 0.250 | not run | - | - | - | not run |",
    ]


def test_latex_is_escaped(records):
    assert r"A \& B\_1 & test & 0.300 & 0.3100$^{x}$ & +0.0100 & 48 & 12.3 & match \\" in latex(records, "100 % of {it}")
    assert escape("50 % p < 0.01 ~ \\") == r"50 \% p $<$ 0.01 \textasciitilde{} \textbackslash{}"


def test_a_row_is_the_same_bytes_each_time_and_renders(tmp_path):
    (tmp_path / "v.tsv").write_text("query_id\tRR@10\tnDCG@10\nq\t0.5\t0.25\nr\t0.0\t0.0\n")
    (tmp_path / "a.run").write_text("q Q0 1 1 1.0 t\n")
    (tmp_path / "c.json").write_text('{"cutoff": 7}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    declared = {
        "id": "a",
        "label": "A",
        "group": "G",
        "kind": "model",
        "published": [entry(0.25), entry(48, "latency", None, "ms/query")],
    }
    for name in ("one", "two"):
        paths = [tmp_path / "v.tsv"], [tmp_path / "a.run"], tmp_path / "c.json", tmp_path
        write_row(declared, {"keep": 10}, ["test"], *paths, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    found = json.loads((tmp_path / "one").read_text())
    assert found["metrics"] == {"test": {"RR@10": 0.25, "nDCG@10": 0.125, "queries": 2}}
    assert found["settings"]["cutoff"] == 7 and found["settings"]["model_sha256"].startswith("e3b0c442")
    assert found["settings"]["keep"] == 10 and found["published"][0]["verdict"] == "match"
    stage = {"mean": 1.0, "p50": 1.0, "p95": 2.0, "p99": 3.0}
    (tmp_path / "l.json").write_text(json.dumps({"ms": {"total": stage, "load": stage | {"mean": 0.0}}}))
    (tmp_path / "test").mkdir()
    test = {"difference": 0.1, "p": 0.002, "queries": 2, "significant": True, "alpha": 0.01}
    (tmp_path / "test" / "a-vs-bm25.json").write_text(json.dumps(test))
    render_row(tmp_path / "one", tmp_path / "l.json", [tmp_path / "test" / "a-vs-bm25.json"], "a note", tmp_path / "a.md")
    page = (tmp_path / "a.md").read_text()
    for said in ("0.2500", "match", "| total | 1.00 |", "Against `bm25` on test: +0.1000", "reports 48 ms", "a note"):
        assert said in page
    assert "load" not in page


def test_all_four_forms_say_the_same(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(row(metrics={"test": {"RR@10": 0.125}})))
    outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
    write_table([tmp_path / "a.json"], {}, [], "test", "T", "note", 0.01, outs)
    assert "0.1250" in outs["md"].read_text() and "0.1250" in outs["tex"].read_text()
    assert next(csv.DictReader(io.StringIO(outs["csv"].read_text())))["ours"] == "0.125"
    assert json.loads(outs["json"].read_text())["rows"][0]["ours"] == 0.125
