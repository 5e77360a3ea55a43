"""Rows and the table: order, marks, forms, pages."""

import csv
import io
import json

import pytest

from epic.pages import render_row
from epic.rows import comparison_of, write_row
from epic.table import build, caption, escape, latex, markdown, write_table
from epic.verdicts import judge, over_the_table, paper_value
from tests.unit.test_verdicts import entry

STAGE = {"mean": 1.0, "interval": [0.5, 1.5], "p50": 1.0, "p95": 2.0, "p99": 3.0}


def row(metrics=None, published=(), **changes):
    found = {"id": "a", "label": "A & B_1", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "keep": 10}
    found |= {"settings": {"keep": 10}, "metrics": metrics or {}}
    return found | {"published": [judge(one, found["metrics"], []) for one in published]} | changes


def family(mark, significant, system="a"):
    tests = [{"system": system, "baseline": "b", "significant": significant}]
    return {"mark": mark, "says": f"says {mark}", "tests": tests}


def test_ours_is_taken_from_the_published_query_set_where_it_was_run():
    both = {"dev": {"RR@10": 0.2}, "test": {"RR@10": 0.4}}
    assert comparison_of(row(both, [entry(query_set="dev")]), "test")["ours"] == 0.2
    other = comparison_of(row(both, [entry(query_set="other")]), "test")
    assert other["ours"] == 0.4 and other["difference"] is None and other["because"] == ["other query set"]
    assert comparison_of(row(both), "test")["verdict"] == "not published"


def test_a_row_that_the_paper_does_not_have_is_compared_with_whoever_published_it():
    measured, theirs = {"test": {"RR@10": 0.31}}, entry(0.31) | {"source": "a repository"}
    found = comparison_of(row(measured, [theirs]), "test")
    assert (found["published"], found["source"], found["verdict"]) == (0.31, "a repository", "match")
    assert comparison_of(row(measured, [theirs, entry(0.25)]), "test")["source"] == "paper"
    assert paper_value(row(measured, [theirs])) is None


def test_a_row_without_metrics_was_not_run():
    assert comparison_of(row(), "test")["verdict"] == "not run"


@pytest.fixture
def rows():
    measured = row({"test": {"RR@10": 0.31}}, [entry(), entry(48, "latency", None, "ms/query")])
    return [measured, row(id="b", published=[entry(0.25)], group="H", kind="published-only")]


@pytest.fixture
def records(rows):
    tests = {
        "test": {"families": [family("x", True), family("z", False), family("w", True, "b")]},
        "other": {"families": [family("y", True)]},
    }
    return build(rows, {"a": {"ms": {"total": STAGE | {"mean": 12.34}}}}, tests, "test")


def test_a_record_holds_difference_marks_and_latency(records):
    assert records[0]["difference"] == pytest.approx(0.01) and records[0]["marks"] == "x"
    assert records[0]["published_ms"] == 48 and records[0]["ours_ms"] == 12.34 and records[0]["interval_ms"] == [0.5, 1.5]
    assert records[1]["ours"] is None and records[1]["verdict"] == "not run" and records[1]["ours_ms"] is None


def test_markdown_shows_groups_and_rows_that_were_not_run(rows, records):
    text = markdown(records, over_the_table(rows, "test"), "caption")
    assert text.splitlines()[2:6] == [
        "| **G** | | | | | | | |",
        "| A & B_1 | test | 0.300 | 0.3100x | +0.0100 | 48 | 12.3 | match |",
        "| **H** | | | | | | | |",
        "| A & B_1 | test | 0.250 | not run | - | - | - | not run |",
    ]
    assert "Model `m` on test: Kendall's tau undefined between the published and our order of 1 systems" in text


def test_the_caption_explains_the_marks():
    said = caption("T", "the note", "test", [family("x", True), family("y", False)], 0.01)
    assert "x: says x; y: says y" in said and "p < 0.01" in said and "Holm" in said and said.endswith("the note")


def test_latex_is_escaped(records):
    assert r"A \& B\_1 & test & 0.300 & 0.3100$^{x}$ & +0.0100 & 48 & 12.3 & match \\" in latex(records, "100 % of {it}")
    assert escape("50 % p < 0.01 ~ \\") == r"50 \% p $<$ 0.01 \textasciitilde{} \textbackslash{}"


def test_a_row_is_the_same_bytes_each_time_and_renders(tmp_path):
    for name, values in (("v.tsv", "q\t0.5\t0.25\nr\t0.0\t0.0\n"), ("first.tsv", "q\t0.25\t0.25\nr\t0.0\t0.0\n")):
        (tmp_path / name).write_text("query_id\tRR@10\tnDCG@10\n" + values)
    (tmp_path / "a.run").write_text("q Q0 1 1 1.0 t\n")
    (tmp_path / "c.json").write_text('{"cutoff": 7}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    declared = {"id": "a", "label": "A", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "keep": 10}
    declared["published"] = [entry(0.25), entry(48, "latency", None, "ms/query")]
    for name in ("one", "two"):
        paths = [tmp_path / "v.tsv"], [tmp_path / "a.run"], (tmp_path / "c.json", tmp_path)
        write_row(declared, {"keep": 10}, [], ["test"], *paths, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    found = json.loads((tmp_path / "one").read_text())
    assert found["metrics"] == {"test": {"RR@10": 0.25, "nDCG@10": 0.125, "queries": 2}}
    assert found["settings"]["cutoff"] == 7 and found["settings"]["model_sha256"].startswith("e3b0c442")
    assert found["settings"]["keep"] == 10 and found["published"][0]["verdict"] == "match"
    latency = {"ms": {"total": STAGE, "load": STAGE | {"mean": 0.0}}, "cold": None, "cold_skipped": "not here"}
    (tmp_path / "l.json").write_text(json.dumps(latency))
    test = {"baseline_id": "bm25", "query_set": "test", "metric": "RR@10", "system": tmp_path / "v.tsv"}
    tests = [test | {"baseline": tmp_path / "first.tsv"}]
    render_row(tmp_path / "one", tmp_path / "l.json", tests, 0.01, "a note", "snakemake it", tmp_path / "a.md")
    page = (tmp_path / "a.md").read_text()
    for said in (
        "| mean | 0.2500 | 0.1250 |",
        "| match |",
        "| total | 1.00 | 0.50 to 1.50 |",
        "No cold pass: not here",
        "reports 48 ms",
    ):
        assert said in page, said
    assert "Against `bm25` on test: +0.1250 RR@10" in page and "1 won, 1 tied, 0 lost" in page
    assert "a note" in page and "snakemake it" in page and "load" not in page


def test_all_four_forms_say_the_same(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(row({"test": {"RR@10": 0.125}})))
    (tmp_path / "test.json").write_text(json.dumps({"alpha": 0.01, "families": [family("x", True)]}))
    outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
    write_table([tmp_path / "a.json"], {}, {"test": tmp_path / "test.json"}, "test", "T", "note", outs)
    assert "0.1250x" in outs["md"].read_text() and "0.1250$^{x}$" in outs["tex"].read_text()
    record = next(csv.DictReader(io.StringIO(outs["csv"].read_text())))
    assert record["ours"] == "0.125" and record["marks"] == "x" and record["published"] == ""
    assert json.loads(outs["json"].read_text())["rows"][0]["ours"] == 0.125
