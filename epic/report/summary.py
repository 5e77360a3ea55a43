"""A finished experiment on a terminal: the table in a hundred columns, and what was found in one sentence."""

import textwrap
from collections import Counter
from pathlib import Path

from epic.core import seals
from epic.core.files import InputError, read_json
from epic.core.terminal import columns
from epic.core.visible import one_line, visible
from epic.experiment.measure_labels import spoken

WIDTH = 100
HEADER = ("", "", "published", "ours", "ms/query")


def summary(results) -> str:
    """Return table, finding and places of an experiment's results."""
    folder = Path(results)
    remedy = f"snakemake {folder}/table.json --cores all"
    if not (folder / "table.json").exists():
        raise InputError(f"{folder} has no table.json yet; run `{remedy}` first")
    seals.check([folder / "table.json"])
    table = read_json(folder / "table.json")
    if "measure" not in table:
        raise InputError(f"{folder / 'table.json'} does not say what it measures; make it again: `{remedy}`")
    shown = f"{spoken(table['measure'])} on {table['headline']}"
    lines = [f"{table['title']}: {shown}, unless the row names another query set", "", *_table(table)]
    places = [("report", "report.html"), ("rows", "rows/"), ("figures", "figures/"), ("logs", "logs/")]
    found = textwrap.wrap(finding(table, _tests(folder, table["headline"])), WIDTH)
    places = [f"{name + ':':<9}{folder / path}" for name, path in places]
    return visible("\n".join([*lines, "", *found, "", *places]))  # a terminal obeys control characters


def _table(table: dict) -> list[str]:
    """Return a line for each row, under the names of their groups."""
    cells = [HEADER, *(_cells(row, table["headline"]) for row in table["rows"])]
    room = WIDTH - sum(max(map(len, column)) + 2 for column in list(zip(*cells, strict=True))[1:])  # what is left for labels
    header, *lines = columns([(_shortened(label, room), *others) for label, *others in cells], texts=2)
    shown, group = [header], None
    for row, line in zip(table["rows"], lines, strict=True):
        if row["group"] != group:
            group = row["group"]
            shown.append(one_line(group))
        shown.append(line)
    return shown


def _cells(row: dict, headline: str) -> tuple[str, ...]:
    verdict = row["verdict"] + (f" ({row['query_set']})" if row["query_set"] not in (None, headline) else "")
    ours = f"{row['ours']:.4f}{row['marks']}" if row["ours"] is not None else "-"
    numbers = (f"{row['published']:g}" if row["published"] is not None else "-", ours)
    return f"  {one_line(row['label'])}", verdict, *numbers, f"{row['ours_ms']:.1f}" if row["ours_ms"] is not None else "-"


def _shortened(label: str, room: int) -> str:
    return label if len(label) <= room else f"{label[: room - 3]}..."


def finding(table: dict, tests: list[dict]) -> str:
    """Say in one sentence what was found: a re-ranker against its own first stage, and how the published values compare."""
    rows = {row["id"]: row for row in table["rows"]}
    first = {row["first_stage"]: row["id"] for row in table["rows"] if row["kind"] == "first-stage"}
    own = [test for test in tests if first.get(rows[test["system"]]["first_stage"]) == test["baseline"]]
    verdicts = Counter(row["verdict"] for row in table["rows"])
    compared = "against the published values: " + ", ".join(f"{verdict} {count}" for verdict, count in verdicts.items())
    if not own:
        return f"Found: no re-ranker was tested against its own first stage; {compared}."
    test = own[0]
    system, baseline = rows[test["system"]]["label"], rows[test["baseline"]]["label"]
    means = f"{system} {test['system_mean']:.4f} against {baseline} {test['baseline_mean']:.4f}"
    difference = f"{test['difference']:+.4f}, corrected p = {test['p_holm']:.2g}, {test['queries']} queries"
    conclusion = "a significant difference" if test["significant"] else "no significant difference"
    return f"Found: {means} ({difference}), {conclusion}; {compared}."


def _tests(folder: Path, headline: str) -> list[dict]:
    """Return all tests on the query set of the table."""
    path = folder / "significance" / f"{headline}.json"
    seals.check([path])
    return [test for family in read_json(path)["families"] for test in family["tests"]]
