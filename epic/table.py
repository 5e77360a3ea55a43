"""The results table in the paper's order and grouping, as Markdown, LaTeX, CSV and JSON."""

import csv
import io

from epic.files import read_json, write_json, write_text
from epic.rows import comparison_of, published_ms


def build(rows: list[dict], latencies: dict, comparisons: list[dict], headline: str) -> list[dict]:
    """One record a row; a mark stands where a declared comparison is significant."""
    records = []
    for row in rows:
        found = comparison_of(row, headline)
        comparable = found["verdict"] in ("match", "above", "below")
        latency = latencies.get(row["id"])
        tested = [c for c in comparisons if c["system"] == row["id"] and c["query_set"] == found["query_set"]]
        marks = [comparison["mark"] for comparison in tested if comparison["significant"]]
        records.append(
            {
                "id": row["id"],
                "group": row["group"],
                "label": row["label"],
                "query_set": found["query_set"],
                "published_query_set": found["published_query_set"],
                "published": found["published"],
                "ours": found["ours"],
                "difference": found["ours"] - found["published"] if comparable else None,
                "marks": "".join(marks),
                "published_ms": published_ms(row),
                "ours_ms": latency["ms"]["total"]["mean"] if latency else None,
                "verdict": found["verdict"],
            }
        )
    return records


def caption(title: str, note: str, headline: str, comparisons: list[dict], alpha: float) -> str:
    """What a reader must know to read the table."""
    tested: dict[str, list[str]] = {}
    for comparison in comparisons:
        names = tested.setdefault(comparison["mark"], [])
        if comparison["baseline"] not in names:
            names.append(comparison["baseline"])
    shown = {mark: ", ".join(names) if len(names) <= 3 else f"{len(names)} rows (table.json)" for mark, names in tested.items()}
    marks = "; ".join(f"{mark} against {names}" for mark, names in shown.items())
    return (
        f"{title}. MRR@10 and mean milliseconds per query. Ours is of the query set that is named: the published one, or "
        f"{headline} where that is not run. Marks: significantly different there (paired t-test, p < {alpha:g}): {marks}. "
        f"A difference and a verdict are given only where the published value is of the same query set. Latencies depend on "
        f"the machine and get no verdict. {note}"
    )


def number(value, digits: int, missing: str, signed: bool = False) -> str:
    """A number for people."""
    return missing if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def markdown(records: list[dict], text: str) -> str:
    """A Markdown table with a line for each group."""
    lines = [
        "| Method | query set | MRR@10 published | ours | difference | ms published | ours | verdict |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    group = None
    for record in records:
        if record["group"] != group:
            group = record["group"]
            lines.append(f"| **{group}** | | | | | | | |")
        ours = number(record["ours"], 4, "not run") + record["marks"]
        cells = [record["label"], record["query_set"] or "-", number(record["published"], 3, "-"), ours]
        cells += [number(record["difference"], 4, "-", signed=True), number(record["published_ms"], 0, "-")]
        cells += [number(record["ours_ms"], 1, "-"), record["verdict"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", text, ""])


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
        cells = [escape(record["label"]), record["query_set"] or "--", number(record["published"], 3, "--")]
        cells += [number(record["ours"], 4, "not run") + (f"$^{{{record['marks']}}}$" if record["marks"] else "")]
        cells += [number(record["difference"], 4, "--", signed=True), number(record["published_ms"], 0, "--")]
        cells += [number(record["ours_ms"], 1, "--"), record["verdict"]]
        lines.append(" & ".join(cells) + r" \\")
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
    writer.writerows(records)
    return stream.getvalue()


def write_table(rows, latencies, comparisons, headline, title, note, alpha, outs) -> None:
    """Write the table in all four forms; rows, latencies and comparisons hold paths by id."""
    found = [read_json(path) for path in rows]
    tests = [comparison | read_json(comparison["path"]) for comparison in comparisons]
    tests = [{key: value for key, value in test.items() if key != "path"} for test in tests]
    timed = {row_id: read_json(path) for row_id, path in latencies.items()}
    records = build(found, timed, tests, headline)
    text = caption(title, note, headline, tests, alpha)
    write_text(outs["md"], markdown(records, text))
    write_text(outs["tex"], latex(records, text))
    write_text(outs["csv"], comma_separated(records))
    write_json(outs["json"], {"title": title, "headline": headline, "rows": records, "comparisons": tests, "note": note})
