"""The results table in the paper's order and grouping, as Markdown, LaTeX, CSV and JSON."""

from collections.abc import Callable

import pandas as pd

from epic.core.files import read_json, write_json, write_text
from epic.core.markdown import markdown_table, plain
from epic.core.visible import one_line, visible
from epic.experiment.measure_labels import spoken
from epic.judging.rows import comparison_of, coverage_of, published_ms
from epic.judging.verdicts import over_the_table, said

ALIGNED = "llrrrrrl"  # the columns of `header`: text to the left, numbers to the right
FEWER = "(n queries) behind milliseconds: a slow row is timed on the first n of the queries that count."
PARTLY = "(n of m) behind a query set: the run has hits for n of its m judged queries, the others count as zero."
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$"}
LATEX |= {"`": r"\textasciigrave{}", '"': "''"} | {character: "\\" + character for character in "&%$#_{}"}
LATEX |= {character: f"{{{character}}}" for character in "[]*"}  # at the start of a line they would belong to the \\ before it
FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # a spreadsheet computes a cell that begins so; the last four are wide ones


def header(measure: str) -> pd.MultiIndex:
    """Return the heads of the columns, and what stands over several of them."""
    return pd.MultiIndex.from_tuples(
        [("", "Method"), ("", "query set")]
        + [(spoken(measure), name) for name in ("published", "ours", "difference")]
        + [("ms/query", name) for name in ("published", "ours")]
        + [("", "verdict")]
    )


def build(rows: list[dict], latencies: dict, tests: dict, headline: str, measure: str) -> list[dict]:
    """Build one record a row, with the marks of significant declared comparisons. tests: query set -> its families."""
    records = []
    for row in rows:
        found = comparison_of(row, headline, measure)
        latency = latencies.get(row["id"])
        families = tests[found["query_set"]]["families"] if found["query_set"] in tests else []
        marks = [
            family["mark"]
            for family in families
            if any(test["system"] == row["id"] and test["significant"] for test in family["tests"])
        ]
        total = latency["ms"]["total"] if latency else {"mean": None, "interval": None}
        records.append(
            {key: row[key] for key in ("id", "group", "label", "kind", "first_stage", "model", "keep")}
            | found
            | {"marks": "".join(marks), "published_ms": published_ms(row), "ours_ms": total["mean"]}
            | {"interval_ms": total["interval"]}
            | coverage_of(row, found["query_set"])
            | ({"ms_queries": latency["queries"]} if latency and "instead_of" in latency else {})
            | ({"ms_of": row["sources"]["latency"]} if latency and "sources" in row else {})
        )
    return records


def caption(title: str, note: str, headline: str, measure: str, families: list[dict], alpha: float) -> str:
    """Return the explanations that a reader of the table needs."""
    marks: dict[str, str] = {}
    for family in families:
        marks.setdefault(family["mark"], family["says"])  # the same comparison for another model has the same mark
    explained = "; ".join(f"{mark}: {says}" for mark, says in marks.items())
    return (
        f"{title}. {spoken(measure)} and mean milliseconds per query. Published values are the paper's or, in a row that it "
        f"does not have, those of whoever published the run. Ours is of the query set that is named: the published one, or "
        f"{headline} where that is not run. A letter marks a significant difference there (paired t-test, p < {alpha:g}, "
        f"corrected by Holm within a letter and a model): {explained}. A difference and a verdict are given only where the "
        f"published value is of the same collection, encoder and query set. "
        f"Latencies depend on the machine and get no verdict. {note}"
    )


def number(value, digits: int, missing: str, signed: bool = False) -> str:
    """Format a number for people."""
    return missing if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def covered(record: dict) -> str:
    """Say for how many of the judged queries a row's run has hits; nothing if it has some for all."""
    return f" ({record['answered']} of {record['judged']})" if "answered" in record else ""


def timed_on(record: dict) -> str:
    """Say on how many queries a row was timed; nothing if it was on as many as others."""
    return f" ({record['ms_queries']} queries)" if "ms_queries" in record else ""


def sources_said(records: list[dict], measure: str) -> str:
    """Say which milliseconds are not of the run whose effectiveness stands beside them."""
    found = [f"{record['label']}: {record['ms_of']}" for record in records if "ms_of" in record]
    said = f"Of a published run that is timed here, {spoken(measure)} is that of the run, and milliseconds are of a model"
    return f"{said} ({'; '.join(found)})." if found else ""


def cells_of(record: dict, missing: str) -> list[str]:
    """Format a record as texts, except marks and label."""
    return [
        (record["query_set"] or record["published_query_set"] or missing) + covered(record),
        number(record["published"], 3, missing),
        number(record["ours"], 4, "not run"),
        number(record["difference"], 4, missing, signed=True),
        number(record["published_ms"], 0, missing),
        number(record["ours_ms"], 1, missing) + timed_on(record),
        said(record["verdict"], record["because"]),
    ]


def lines_of(
    records: list[dict], columns: pd.MultiIndex, missing: str, text: Callable, heading: Callable, marks: Callable
) -> pd.DataFrame:
    """Lay out the table for people: a line for each group, then its rows.

    text, heading, marks: functions that write any text, a group's name, and the marks behind a number.
    """
    lines, group = [], None
    for record in records:
        if record["group"] != group:
            group = record["group"]
            lines.append([heading(group), *[""] * (len(columns) - 1)])
        cells = [text(cell) for cell in (record["label"], *cells_of(record, missing))]
        cells[3] += marks(record["marks"]) if record["marks"] else ""
        lines.append(cells)
    return pd.DataFrame(lines, columns=columns)


def markdown(records: list[dict], measure: str, over: dict, text: str) -> str:
    """Lay out the table for people. A Markdown table has a line for each group; sentences about it as a whole follow."""
    frame = lines_of(records, header(measure), "-", text=plain, heading=lambda group: f"**{plain(group)}**", marks=str)
    frame.columns = [" ".join(names).strip() for names in frame.columns]
    right = [name for name, side in zip(frame.columns, ALIGNED, strict=True) if side == "r"]
    table = markdown_table(frame, right, marked=frame.columns)
    return "\n".join([table, "", plain(text), "", *(line for order in over["models"] for line in in_words(order, over))])


def in_words(order: dict, over: dict) -> list[str]:
    """Compare a model's part of the table with the published one, in words."""
    tau = number(order["kendall_tau"], 2, "undefined")
    why = f" (not comparable: {', '.join(order['because'])})" if order["because"] else ""
    gains = []
    for gain in order["gains"]:
        ratio, delta = gain["effect_ratio"], gain["delta_relative_improvement"]
        gains.append(f"{gain['system']} {number(ratio, 2, '-')}, {number(delta, 3, '-', signed=True)}")
    return [
        f"Model `{order['model']}` on {over['query_set']}{why}: Kendall's tau {tau} between the published and our order of "
        f"{order['systems']} systems. Gain over the own first stage, as effect ratio (1 is the published gain) and published "
        f"minus our relative improvement: {'; '.join(gains) or 'none'}.",
        "",
    ]


def latex(records: list[dict], measure: str, text: str) -> str:
    """Lay out a booktabs table."""
    columns = header(measure)
    others = len(columns) - 1

    def heading(group: str) -> str:
        return rf"""\midrule
\multicolumn{{{1 + others}}}{{l}}{{\textbf{{{escape(group)}}}}}"""

    frame = lines_of(records, columns, "--", text=escape, heading=heading, marks="$^{{{}}}$".format)
    rules = [{"selector": name, "props": f":{name};"} for name in ("toprule", "bottomrule")]  # the groups draw the other rules
    found = frame.style.hide(axis="index").set_table_styles(rules)
    found = found.to_latex(column_format=ALIGNED, multicol_align="c", position_float="centering", caption=escape(text))
    return found.replace(" & " * others + r" \\", r" \\")  # a heading spans all columns, so no cells stand beside it


def escape(text: str) -> str:
    """Escape plain text for LaTeX, on one line: an empty line would end a paragraph."""
    return "".join(LATEX.get(character, character) for character in one_line(text))


def comma_separated(records: list[dict]) -> str:
    """Return the records as CSV in full precision, one line a row, empty if there is no value."""
    shown = [{key: as_cell(value) for key, value in record.items()} for record in records]
    frame = pd.DataFrame(shown, dtype=object)  # else a column with a gap turns 21 into 21.0
    frame["because"] = frame["because"].map("; ".join)
    frame["interval_ms"] = frame["interval_ms"].map(lambda interval: " to ".join(map(str, interval)), na_action="ignore")
    return frame.to_csv(index=False, lineterminator="\n")


def as_cell(value):
    """Return a number as it is, and a text so that a spreadsheet shows it: after an apostrophe if it would compute it."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.lstrip().startswith(FORMULAS) else visible(value)


def write_table(rows: list, latencies: dict, tests: dict, about: dict, outs: dict) -> None:
    """Write the table in all four forms; rows are paths, latencies paths by row, tests paths by query set.

    about: title and note of the experiment, and its headline query set and measure.
    """
    title, note, headline, measure = (about[key] for key in ("title", "note", "headline", "measure"))
    found = [read_json(path) for path in rows]
    tested = {query_set: read_json(path) for query_set, path in tests.items()}
    timed = {row_id: read_json(path) for row_id, path in latencies.items()}
    records = build(found, timed, tested, headline, measure)
    text = caption(title, note, headline, measure, tested[headline]["families"], tested[headline]["alpha"])
    for says, needed in ((PARTLY, any(map(covered, records))), (FEWER, any(map(timed_on, records)))):
        text += f" {says}" if needed else ""
    text += f" {said_of}" if (said_of := sources_said(records, measure)) else ""
    over = over_the_table(found, headline, measure)
    write_text(outs["md"], markdown(records, measure, over, text))
    write_text(outs["tex"], latex(records, measure, text))
    write_text(outs["csv"], comma_separated(records))
    said = {"title": title, "headline": headline, "measure": measure, "caption": text}
    write_json(outs["json"], said | {"rows": records, "over": over, "note": note})
