"""The table: order, marks, forms."""

import csv
import io
import json
import re

import pytest

from epic.core.visible import one_line
from epic.judging.verdicts import over_the_table
from epic.report.table import build, caption, comma_separated, escape, latex, markdown, write_table
from tests.hostile import ALL, FORMULAS, TEXTS, unseen
from tests.judging import entry, row
from tests.latency import STAGE
from tests.markdown import Page, cells

ABOUT = {"title": "T", "note": "note", "headline": "test", "measure": "RR@10"}


def family(mark, significant, system="a"):
    tests = [{"system": system, "baseline": "b", "significant": significant}]
    return {"mark": mark, "says": f"says {mark}", "tests": tests}


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
    return build(rows, {"a": {"ms": {"total": STAGE | {"mean": 12.34}}}}, tests, "test", "RR@10")


def test_a_record_holds_difference_marks_and_latency(records):
    assert records[0]["difference"] == pytest.approx(0.01) and records[0]["marks"] == "x"
    assert records[0]["published_ms"] == 48 and records[0]["ours_ms"] == 12.34 and records[0]["interval_ms"] == [0.5, 1.5]
    assert records[1]["ours"] is None and records[1]["verdict"] == "not run" and records[1]["ours_ms"] is None


def test_markdown_shows_groups_and_rows_that_were_not_run(rows, records):
    text = markdown(records, "RR@10", over_the_table(rows, "test", "RR@10"), "caption")
    head, rule, *lines = text.splitlines()[:6]
    assert cells(head)[0][:4] == ["Method", "query set", "MRR@10 published", "MRR@10 ours"]
    assert [cell.strip().endswith(":") for cell in rule.split("|")[1:-1]] == [False, False, True, True, True, True, True, False]
    assert cells("\n".join(lines)) == [
        ["**G**", "", "", "", "", "", "", ""],
        ["A & B_1", "test", "0.300", "0.3100x", "+0.0100", "48", "12.3", "match"],
        ["**H**", "", "", "", "", "", "", ""],
        ["A & B_1", "test", "0.250", "not run", "-", "-", "-", "not run"],
    ]
    assert text.splitlines()[6:9] == ["", "caption", ""]
    assert "Model `m` on test: Kendall's tau undefined between the published and our order of 1 systems" in text


def test_a_row_whose_run_lacks_queries_says_so_and_no_other_row_does(tmp_path):
    partly = row({"test": {"RR@10": 0.31, "queries": 58, "answered": 57}}, [entry()])
    for name, found in (("a", partly), ("b", row({"test": {"RR@10": 0.3, "queries": 58}}, id="b"))):
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    (tmp_path / "test.json").write_text(json.dumps({"alpha": 0.01, "families": []}))
    outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
    rows = [tmp_path / "a.json", tmp_path / "b.json"]
    write_table(rows, {}, {"test": tmp_path / "test.json"}, ABOUT, outs)
    assert [line[1] for line in cells(outs["md"].read_text())[2:5]] == ["", "test (57 of 58)", "test"]
    assert "& test (57 of 58) &" in outs["tex"].read_text() and outs["md"].read_text().count("(n of m)") == 1
    first, second = csv.DictReader(io.StringIO(outs["csv"].read_text()))
    assert (first["answered"], first["judged"]) == ("57", "58") and (second["answered"], second["judged"]) == ("", "")
    write_table(rows[1:], {}, {"test": tmp_path / "test.json"}, ABOUT, outs)
    assert "(n of m)" not in outs["md"].read_text() and "answered" not in outs["csv"].read_text() + outs["json"].read_text()


def test_a_row_timed_on_fewer_queries_says_so_and_a_published_run_whose_time_is_a_model_s(tmp_path):
    published = row({"test": {"RR@10": 0.31}}, id="a", label="BERT") | {"sources": {"latency": "the model big, run here"}}
    for name, found in (("a", published), ("b", row({"test": {"RR@10": 0.3}}, id="b"))):
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    latency = {"ms": {"total": STAGE | {"mean": 3500.04}}, "queries": 50}
    (tmp_path / "slow.json").write_text(json.dumps(latency | {"instead_of": 1000}))
    (tmp_path / "fast.json").write_text(json.dumps(latency | {"queries": 1000}))
    (tmp_path / "test.json").write_text(json.dumps({"alpha": 0.01, "families": []}))
    outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
    rows, latencies = [tmp_path / "a.json", tmp_path / "b.json"], {"a": tmp_path / "slow.json", "b": tmp_path / "fast.json"}
    write_table(rows, latencies, {"test": tmp_path / "test.json"}, ABOUT, outs)
    assert [line[6] for line in cells(outs["md"].read_text())[3:5]] == ["3500.0 (50 queries)", "3500.0"]
    assert "3500.0 (50 queries)" in outs["tex"].read_text() and outs["md"].read_text().count("(n queries)") == 1
    assert "milliseconds are of a model (BERT: the model big, run here)." in " ".join(outs["md"].read_text().split())
    first, second = csv.DictReader(io.StringIO(outs["csv"].read_text()))
    assert (first["ms_queries"], second["ms_queries"]) == ("50", "") and first["ms_of"] == "the model big, run here"
    write_table(rows[1:], latencies, {"test": tmp_path / "test.json"}, ABOUT, outs)
    text = outs["md"].read_text() + outs["csv"].read_text() + outs["json"].read_text()
    assert (
        "(n queries)" not in text
        and "published run that is timed" not in text
        and "ms_queries" not in text
        and "ms_of" not in text
    )


def test_a_label_cannot_break_the_markdown_table(rows, records):
    records[0]["label"], records[0]["group"] = "r | s, Zürich\n日本", "x|y"
    lines = cells(markdown(records, "RR@10", over_the_table(rows, "test", "RR@10"), "caption"))[:4]
    assert lines[2][0] == "**x|y**" and lines[3][:2] == ["r | s, Zürich 日本", "test"] and {len(line) for line in lines} == {8}


def test_the_caption_explains_the_marks():
    said = caption("T", "the note", "test", "RR@10", [family("x", True), family("y", False)], 0.01)
    assert "x: says x; y: says y" in said and "p < 0.01" in said and "Holm" in said and said.endswith("the note")


def test_latex_is_escaped(records):
    assert r"A \& B\_1 & test & 0.300 & 0.3100$^{x}$ & +0.0100 & 48 & 12.3 & match \\" in latex(records, "RR@10", "100 % of {it}")
    assert escape("50 % p < 0.01 ~ \\") == r"50 \% p $<$ 0.01 \textasciitilde{} \textbackslash{}"


def test_latex_is_a_booktabs_table_with_a_line_for_each_group(records):
    records[0] |= {"label": r"{Zürich}^2 ~ $5 #1 \x", "group": "50 % & more"}
    records.append(records[0] | {"marks": ""})  # the first group once more
    assert latex(records, "RR@10", "p < 0.01").splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{p $<$ 0.01}",
        r"\begin{tabular}{llrrrrrl}",
        r"\toprule",
        r"\multicolumn{2}{c}{} & \multicolumn{3}{c}{MRR@10} & \multicolumn{2}{c}{ms/query} &  \\",
        r"Method & query set & published & ours & difference & published & ours & verdict \\",
        r"\midrule",
        r"\multicolumn{8}{l}{\textbf{50 \% \& more}} \\",
        r"\{Zürich\}\textasciicircum{}2 \textasciitilde{} \$5 \#1 \textbackslash{}x"
        r" & test & 0.300 & 0.3100$^{x}$ & +0.0100 & 48 & 12.3 & match \\",
        r"\midrule",
        r"\multicolumn{8}{l}{\textbf{H}} \\",
        r"A \& B\_1 & test & 0.250 & not run & -- & -- & -- & not run \\",
        r"\midrule",
        r"\multicolumn{8}{l}{\textbf{50 \% \& more}} \\",
        r"\{Zürich\}\textasciicircum{}2 \textasciitilde{} \$5 \#1 \textbackslash{}x"
        r" & test & 0.300 & 0.3100 & +0.0100 & 48 & 12.3 & match \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_csv_keeps_every_value_as_it_is(records):
    records[0] |= {"label": 'A, "B" | Zürich\nC', "ours": 0.1 + 0.2, "because": ["one", "two"], "keep": "full"}
    text = comma_separated(records)
    first, second = csv.DictReader(io.StringIO(text))
    assert text.splitlines()[0] == ",".join(records[0]) and text.endswith("\n") and "\r" not in text
    assert first["label"] == 'A, "B" | Zürich\nC' and first["ours"] == "0.30000000000000004" and first["because"] == "one; two"
    assert first["published_ms"] == "48" and second["published_ms"] == ""  # a gap in a column makes no 48.0
    assert first["interval_ms"] == "0.5 to 1.5" and second["interval_ms"] == second["ours"] == second["ours_ms"] == ""
    assert first["keep"] == "full" and second["keep"] == "10" and second["marks"] == ""
    missing = {key for key, value in records[1].items() if value is None}
    assert missing and all(second[key] == "" for key in missing)


def test_all_four_forms_say_the_same(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(row({"test": {"RR@10": 0.125}})))
    (tmp_path / "test.json").write_text(json.dumps({"alpha": 0.01, "families": [family("x", True)]}))
    outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
    write_table([tmp_path / "a.json"], {}, {"test": tmp_path / "test.json"}, ABOUT, outs)
    assert "0.1250x" in outs["md"].read_text() and "0.1250$^{x}$" in outs["tex"].read_text()
    record = next(csv.DictReader(io.StringIO(outs["csv"].read_text())))
    assert record["ours"] == "0.125" and record["marks"] == "x" and record["published"] == ""
    assert json.loads(outs["json"].read_text())["rows"][0]["ours"] == 0.125


@pytest.mark.parametrize("text", [*TEXTS, ALL])
def test_whatever_a_text_says_markdown_shows_it(rows, records, text):
    records[0] |= {"label": text, "group": text}
    page = markdown(records, "RR@10", over_the_table(rows, "test", "RR@10"), text)
    found, tame = (
        Page(page),
        Page(
            markdown(
                [record | {"label": "x", "group": "y"} for record in records], "RR@10", over_the_table(rows, "test", "RR@10"), "z"
            )
        ),
    )
    assert [cell.strip() for cell in found.cells].count(one_line(text)) == 2 and one_line(text) in found.text.split("\n")
    assert set(found.tags) == set(tame.tags) and len(found.cells) == len(tame.cells) + 8 and not unseen(page)  # one more group


@pytest.mark.parametrize("text", [*TEXTS, ALL])
def test_whatever_a_text_says_latex_sets_it(records, text):
    """Commands, groups and formulas are those of the table itself; each line of the table has seven ampersands, a heading none."""
    records[0] |= {"label": text, "group": text}
    page = latex(records, "RR@10", text)
    written = escape(text)
    assert page.count(written) >= 3 and not unseen(page)
    without = re.sub(
        r"\\(?:textbackslash|textasciitilde|textasciicircum|textasciigrave)\{\}|\\[&%$#_{}]|\$[<>|]\$|\{[][*]\}", "", written
    )
    assert not set(without) & set('\\&%$#_{}~^<>|`[]*\n"')
    tame = latex([record | {"label": "x", "group": "y"} if record is records[0] else record for record in records], "RR@10", "z")
    lines, expected = (re.split(r"\\\\\n", found)[:-1] for found in (page, tame))
    assert [re.sub(r"\\&", "", line).count("&") for line in lines] == [line.count("&") - line.count(r"\&") for line in expected]


def test_a_line_of_latex_does_not_begin_with_an_option_of_the_line_before(records):
    records[0] |= {"label": "[2em] x"}
    records[1] |= {"label": "* y"}
    assert not re.search(r"\\\\\s*[\[*]", latex(records, "RR@10", "z"))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_computes_nothing(records, text):
    records[0] |= {"label": text, "group": f"x{text}", "source": text}
    first, second = csv.DictReader(io.StringIO(comma_separated(records)))
    assert first["label"].startswith("'") and text.strip() in first["label"] and first["source"] == first["label"]
    assert not first["group"].startswith("'") and not unseen(first["label"])
    assert (
        first["difference"] == str(records[0]["difference"]) and float(first["difference"]) > 0 and second["published"] == "0.25"
    )


def test_negative_numbers_stay_numbers_in_csv(records):
    records[0]["difference"] = -0.01
    assert next(csv.DictReader(io.StringIO(comma_separated(records))))["difference"] == "-0.01"


def test_what_nobody_sees_is_written_out_in_csv(records):
    records[0]["label"] = ALL
    assert not unseen(comma_separated(records))


def test_every_form_names_the_measure_of_the_experiment_and_shows_its_values(tmp_path):
    metrics = {"test": {"RR@10": 0.9, "Rprec": 0.31, "AP": 0.123456}}
    for name, metric in (("Rprec", 0.31), ("AP", 0.1235)):
        found = row(metrics, [entry(0.3, metric="Rprec"), entry(0.125, metric="AP"), entry(0.9)])
        found |= {"sources": {"latency": "the model big, run here"}}
        (tmp_path / "a.json").write_text(json.dumps(found))
        (tmp_path / "l.json").write_text(json.dumps({"ms": {"total": STAGE}, "queries": 5, "sources": 1}))
        (tmp_path / "test.json").write_text(json.dumps({"alpha": 0.01, "families": []}))
        outs = {kind: tmp_path / f"table.{kind}" for kind in ("md", "tex", "csv", "json")}
        about = ABOUT | {"measure": name}
        write_table([tmp_path / "a.json"], {"a": tmp_path / "l.json"}, {"test": tmp_path / "test.json"}, about, outs)
        spoken = {"Rprec": "R-prec", "AP": "MAP"}[name]
        shown = cells(outs["md"].read_text())
        assert shown[0][2:5] == [f"{spoken} {what}" for what in ("published", "ours", "difference")]
        assert shown[3][3] == f"{metric:.4f}" and shown[3][7] == "match"
        assert rf"\multicolumn{{3}}{{c}}{{{spoken}}}" in outs["tex"].read_text()
        assert f"T. {spoken} and mean milliseconds per query." in outs["tex"].read_text()
        table = json.loads(outs["json"].read_text())
        assert table["measure"] == name and f"timed here, {spoken} is that of the run" in table["caption"]
        assert table["rows"][0]["ours"] == metrics["test"][name] and "MRR" not in "".join(
            path.read_text() for path in outs.values()
        )
