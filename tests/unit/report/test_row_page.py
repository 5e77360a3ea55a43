"""The page of a row: everything about it, the same bytes each time."""

import json

from epic.core.visible import one_line
from epic.corpus.query_counts import counts_of, write_counts
from epic.corpus.runs import write_answers
from epic.judging.rows import write_row
from epic.report.row_page import render_row
from tests.hostile import ALL, unseen
from tests.judging import entry
from tests.judging import row as judged
from tests.latency import STAGE
from tests.markdown import Page, cells


def test_a_row_is_the_same_bytes_each_time_and_renders(tmp_path):
    for name, values in (("v.tsv", "q\t0.5\t0.25\nr\t0.0\t0.0\n"), ("first.tsv", "q\t0.25\t0.25\nr\t0.0\t0.0\n")):
        (tmp_path / name).write_text("query_id\tRR@10\tnDCG@10\n" + values)
    (tmp_path / "a.run").write_text("q Q0 1 1 1.0 t\n")
    write_answers(tmp_path / "answers", ["q", "r"], {"q": 1})
    write_counts(tmp_path / "counts", counts_of(["q", "r"], {"q": {"1": 1}, "r": {"1": 1}}))
    (tmp_path / "c.json").write_text('{"cutoff": 7}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    declared = {"id": "a", "label": "A", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "keep": 10}
    declared["published"] = [entry(0.25), entry(48, "latency", None, "ms/query")]
    for name in ("one", "two"):
        evaluated = tuple([tmp_path / file] for file in ("v.tsv", "answers", "counts"))
        model = tmp_path / "c.json", tmp_path
        write_row(declared, {"keep": 10}, [], {"test": 7}, evaluated, [tmp_path / "a.run"], model, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    found = json.loads((tmp_path / "one").read_text())
    assert found["metrics"] == {"test": {"RR@10": 0.25, "nDCG@10": 0.125, "queries": 2, "answered": 1}}
    assert found["settings"]["cutoff"] == 7 and found["settings"]["model_sha256"].startswith("e3b0c442")
    assert found["settings"]["keep"] == 10 and found["published"][0]["verdict"] == "match"
    latency = {"ms": {"total": STAGE, "load": STAGE | {"mean": 0.0}}, "cold": None, "cold_skipped": "not here"}
    (tmp_path / "l.json").write_text(json.dumps(latency))
    test = {"baseline_id": "bm25", "query_set": "test", "metric": "RR@10", "system": tmp_path / "v.tsv"}
    tests = [test | {"baseline": tmp_path / "first.tsv"}]
    render_row(tmp_path / "one", tmp_path / "l.json", tests, 0.01, "a note", "snakemake it", tmp_path / "a.md")
    page = (tmp_path / "a.md").read_text()
    shown = cells(page)
    for line in (
        ["test, 2 queries, 1 of them with hits", "RR@10", "nDCG@10"],
        ["mean", "0.2500", "0.1250"],
        ["paper", "test", "RR@10", "0.25", "0.01", "0.2500", "+0.0000", "match"],
        ["paper", "latency", "ms/query", "48", "-", "-", "-", "not comparable: other hardware"],
        ["total", "1.00", "0.50 to 1.50", "1.00", "2.00", "3.00"],
        ["keep", "`10`"],
        ["cutoff", "`7`"],
    ):
        assert line in shown, line
    assert "No cold pass: not here" in page and "reports 48 ms" in page
    assert "Against `bm25` on test: +0.1250 RR@10" in page and "1 won, 1 tied, 0 lost" in page
    assert "a note" in page and "snakemake it" in page and "load" not in page


def test_a_published_run_that_is_timed_says_where_each_number_comes_from_and_on_how_many_queries(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    declared = {"id": "a", "label": "A", "group": "G", "kind": "run-file", "published": []}
    timed = {"model": {"id": "big"}, "first_stage": {"id": "bm25"}, "hits": 1000}
    write_row(declared, {"timed": timed}, [], {}, ([], [], []), [], (None, tmp_path), tmp_path / "row.json")
    found = json.loads((tmp_path / "row.json").read_text())
    assert found["sources"] == {
        "effectiveness": "the published run",
        "latency": "the model big, run here over the first 1000 hits of bm25",
    }
    assert found["settings"]["timed"]["model_sha256"].startswith("e3b0c442") and "cutoff" not in found["settings"]
    latency = {"ms": {"retrieve": STAGE, "score": STAGE, "total": STAGE}, "cold": None, "cold_skipped": "not here"}
    (tmp_path / "l.json").write_text(json.dumps(latency | {"queries": 50, "instead_of": 1000, "reranked": 1000}))
    render_row(tmp_path / "row.json", tmp_path / "l.json", [], 0.01, "a note", "snakemake it", tmp_path / "a.md")
    page = (tmp_path / "a.md").read_text()
    assert "Effectiveness: the published run. Latency: the model big, run here over the first 1000 hits of bm25." in page
    assert (
        "Timed on 50 queries, the first of the 1,000 of faster rows." in page
        and "Hits that are re-ranked for a query: 1000." in page
    )
    assert [line[0] for line in cells(page) if line[1] == "1.00"] == ["retrieve", "score", "total"]
    write_row(declared, {}, [], {}, ([], [], []), [], None, tmp_path / "row.json")
    assert "sources" not in json.loads((tmp_path / "row.json").read_text())


def test_whatever_a_text_says_the_page_shows_it(tmp_path):
    hostile = {"settings": {"first_stage": {"label": ALL, "k1": 0.9}, "x": "a|b"}, "label": ALL, "group": ALL.lower()}
    hostile["remarks"] = [ALL]
    for name, text, changes in (
        ("hostile", ALL, hostile),
        ("tame", "z", {"settings": {"first_stage": {"label": "x", "k1": 0.9}, "x": "y"}, "remarks": ["r"]}),
    ):
        row = judged({"test": {"RR@10": 0.5, "queries": 3}}, [entry(source=text)], **changes)
        (tmp_path / "row.json").write_text(json.dumps(row))
        render_row(tmp_path / "row.json", None, [], 0.01, text, "snakemake it", tmp_path / f"{name}.md")
    page = (tmp_path / "hostile.md").read_text()
    found, tame = Page(page), Page((tmp_path / "tame.md").read_text())
    shown = one_line(ALL)
    assert not unseen(page) and set(found.tags) == set(tame.tags) and len(found.cells) == len(tame.cells)
    assert found.text.split("\n")[0] == shown and found.text.strip().endswith(shown)
    assert {shown, f"label: {shown}, k1: 0.9", "a|b"} <= {cell.strip() for cell in found.cells}


def test_remarks_of_a_checkpoint_are_in_the_row_and_on_its_page(tmp_path):
    (tmp_path / "c.json").write_text('{"cutoff": 7}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    declared = {"id": "a", "label": "A", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "published": []}
    for name, remarks in (("none", None), ("empty", []), ("some", ["Member 2 of 2 has learned next to nothing."])):
        (tmp_path / "ranker.json").write_text(json.dumps({"family": "duet"} | ({} if remarks is None else {"remarks": remarks})))
        write_row(declared, {}, [], {}, ([], [], []), [], (tmp_path / "c.json", tmp_path), tmp_path / name)
        render_row(tmp_path / name, None, [], 0.01, "a note", "snakemake it", tmp_path / f"{name}.md")
    assert "remarks" not in json.loads((tmp_path / "none").read_text())
    assert (tmp_path / "none").read_bytes() == (tmp_path / "empty").read_bytes()
    assert json.loads((tmp_path / "some").read_text())["remarks"] == ["Member 2 of 2 has learned next to nothing."]
    assert "**Remark:** Member 2 of 2 has learned next to nothing." in (tmp_path / "some.md").read_text()
    assert "Remark" not in (tmp_path / "none.md").read_text()


def test_a_cut_off_below_the_last_hit_of_a_query_set_is_remarked(tmp_path):
    (tmp_path / "c.json").write_text('{"cutoff": 7}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "ranker.json").write_text('{"remarks": ["Before."]}')
    for name, text in (("v.tsv", "query_id\tRR@10\nq\t0.5\n"), ("a.run", "q Q0 1 1 1.0 t\n")):
        (tmp_path / name).write_text(text)
    write_answers(tmp_path / "answers", ["q"], {"q": 1})
    write_counts(tmp_path / "counts", counts_of(["q"], {"q": {"1": 1}}))
    declared = {"id": "a", "label": "A", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "published": []}
    evaluated = tuple([tmp_path / file] * 3 for file in ("v.tsv", "answers", "counts"))
    depths = {"deep": 1000, "even": 7, "shallow": 6}
    write_row(declared, {}, [], depths, evaluated, [tmp_path / "a.run"] * 3, (tmp_path / "c.json", tmp_path), tmp_path / "row")
    assert json.loads((tmp_path / "row").read_text())["remarks"] == [
        "Before.",
        "The cut-off is 7, but shallow has 6 hits a query: all of them are re-ranked there, and no more.",
    ]


def test_a_row_on_a_run_file_says_that_it_is_not_timed(tmp_path):
    said = {}
    for name, stage in (("file", {"label": "DPH", "run": {"test": "path:a"}}), ("index", {"label": "BM25", "k1": 0.9})):
        found = judged({"test": {"RR@10": 0.5, "queries": 3}}, settings={"first_stage": stage})
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
        render_row(tmp_path / f"{name}.json", None, [], 0.01, "a note", "snakemake it", tmp_path / f"{name}.md")
        said[name] = "Not timed: its first stage is a run file" in (tmp_path / f"{name}.md").read_text()
    assert said == {"file": True, "index": False}
