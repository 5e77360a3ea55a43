"""The results table in the paper's order and grouping, as Markdown, LaTeX, CSV and JSON."""

import csv
import io

from epic.files import read_json, write_json, write_text
from epic.rows import comparison_of, published_ms
from epic.verdicts import over_the_table, said


def build(rows: list[dict], latencies: dict, tests: dict, headline: str) -> list[dict]:
    """One record a row; a mark stands where a declared comparison is significant. tests: query set -> its families."""
    records = []
    for row in rows:
        found = comparison_of(row, headline)
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
        )
    return records


def caption(title: str, note: str, headline: str, families: list[dict], alpha: float) -> str:
    """What a reader must know to read the table."""
    marks: dict[str, str] = {}
    for family in families:
        marks.setdefault(family["mark"], family["says"])  # the same asked of another model is marked alike
    explained = "; ".join(f"{mark}: {says}" for mark, says in marks.items())
    return (
        f"{title}. MRR@10 and mean milliseconds per query. Published values are the paper's or, in a row that it does not "
        f"have, those of whoever published the run. Ours is of the query set that is named: the published one, or "
        f"{headline} where that is not run. A letter marks a significant difference there (paired t-test, p < {alpha:g}, "
        f"corrected by Holm within a letter and a model): {explained}. A difference and a verdict are given only where the "
        f"published value is of the same collection, encoder and query set. "
        f"Latencies depend on the machine and get no verdict. {note}"
    )


def number(value, digits: int, missing: str, signed: bool = False) -> str:
    """A number for people."""
    return missing if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def cells_of(record: dict, missing: str) -> list[str]:
    """A record as text, but for marks and label."""
    return [
        record["query_set"] or record["published_query_set"] or missing,
        number(record["published"], 3, missing),
        number(record["ours"], 4, "not run"),
        number(record["difference"], 4, missing, signed=True),
        number(record["published_ms"], 0, missing),
        number(record["ours_ms"], 1, missing),
        said(record["verdict"], record["because"]),
    ]


def markdown(records: list[dict], over: dict, text: str) -> str:
    """A Markdown table with a line for each group, and below it how the table stands as a whole."""
    lines = [
        "| Method | query set | MRR@10 published | ours | difference | ms published | ours | verdict |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    group = None
    for record in records:
        if record["group"] != group:
            group = record["group"]
            lines.append(f"| **{group}** | | | | | | | |")
        cells = cells_of(record, "-")
        cells[2] += record["marks"]
        lines.append("| " + " | ".join([record["label"], *cells]) + " |")
    return "\n".join([*lines, "", text, "", *(line for order in over["models"] for line in in_words(order, over))])


def in_words(order: dict, over: dict) -> list[str]:
    """How a model's part of the table stands to the published one."""
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


def latex(records: list[dict], text: str) -> str:
    """A booktabs table."""
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escape(text)}}}", r"\begin{tabular}{llrrrrrl}", r"\toprule"]
    lines += [r" & & \multicolumn{3}{c}{MRR@10} & \multicolumn{2}{c}{ms/query} & \\"]
    lines += [r"Method & query set & published & ours & difference & published & ours & verdict \\"]
    group = None
    for record in records:
        if record["group"] != group:
            group = record["group"]
            lines += [r"\midrule", rf"\multicolumn{{8}}{{l}}{{\textbf{{{escape(group)}}}}} \\"]
        cells = [escape(cell) for cell in cells_of(record, "--")]
        cells[2] += f"$^{{{record['marks']}}}$" if record["marks"] else ""
        lines.append(" & ".join([escape(record["label"]), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def escape(text: str) -> str:
    """Plain text for LaTeX."""
    replaced = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"}
    replaced |= {character: "\\" + character for character in "&%$#_{}"}
    return "".join(replaced.get(character, character) for character in text)


def comma_separated(records: list[dict]) -> str:
    """Full precision, one line a row, empty where there is no value."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        interval = " to ".join(map(str, record["interval_ms"])) if record["interval_ms"] else None
        writer.writerow(record | {"because": "; ".join(record["because"]), "interval_ms": interval})
    return stream.getvalue()


def write_table(rows: list, latencies: dict, tests: dict, headline: str, title: str, note: str, outs: dict) -> None:
    """Write the table in all four forms; rows are paths, latencies paths by row, tests paths by query set."""
    found = [read_json(path) for path in rows]
    tested = {query_set: read_json(path) for query_set, path in tests.items()}
    timed = {row_id: read_json(path) for row_id, path in latencies.items()}
    records = build(found, timed, tested, headline)
    text = caption(title, note, headline, tested[headline]["families"], tested[headline]["alpha"])
    over = over_the_table(found, headline)
    write_text(outs["md"], markdown(records, over, text))
    write_text(outs["tex"], latex(records, text))
    write_text(outs["csv"], comma_separated(records))
    write_json(outs["json"], {"title": title, "headline": headline, "caption": text, "rows": records, "over": over, "note": note})
