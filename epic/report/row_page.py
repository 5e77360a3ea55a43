"""A row as a page for people: effectiveness, published values, latency, significance, settings, and the command."""

import pandas as pd

from epic.core.files import read_json, write_text
from epic.core.markdown import as_text, code, markdown_table, plain
from epic.evaluation.significance import compare, paired, side_by_side
from epic.judging.rows import published_ms
from epic.judging.verdicts import said

NOT_TIMED = "Not timed: its first stage is a run file, so that no query is searched for here"


def render_row(row_path, latency_path, tests: list[dict], alpha: float, note: str, command: str, out) -> None:
    """Write the page; tests: baseline, query set, measure and the two files of per-query values of each test to show."""
    row = read_json(row_path)
    lines = [f"# {plain(row['label'])}", "", f"Row `{row['id']}`, {plain(row['group'].lower())}.", ""]
    lines += _effectiveness(row) if row["metrics"] else ["**Not run here**; the published values are:", ""]
    lines += remarked(row.get("remarks", []))
    lines += published_lines(row["published"])
    if "sources" in row:
        lines += [f"Effectiveness: {plain(row['sources']['effectiveness'])}. Latency: {plain(row['sources']['latency'])}.", ""]
    if latency_path:
        lines += _latency(read_json(latency_path), published_ms(row))
    elif "run" in row["settings"].get("first_stage", {}):
        lines += [f"{NOT_TIMED}.", ""]
    lines += [text for test in tests for text in (_significance(test, alpha), "")]
    if row["settings"]:
        settings = {key: _show(value) for key, value in row["settings"].items()}
        frame = pd.DataFrame(settings.items(), columns=["key", "value"])
        lines += ["## Settings", "", markdown_table(frame, marked=["value"]), ""]
        lines += ["Made by:", "", "```sh", command, "```", ""]
    write_text(out, "\n".join([*lines, f"*{plain(note)}*", ""]))


def _effectiveness(row):
    lines = []
    for name, found in row["metrics"].items():
        means = pd.Series(found).drop(["queries", "answered"], errors="ignore")
        partly = f", {found['answered']} of them with hits" if "answered" in found else ""
        frame = as_text(means, ".4f").to_frame("mean").T.reset_index(names=f"{name}, {found['queries']} queries{partly}")
        lines += [markdown_table(frame, right=means.index), ""]
    return lines


def remarked(remarks: list[str]) -> list[str]:
    """Return what is to be remarked on a model's training, each once."""
    return [line for remark in dict.fromkeys(remarks) for line in (f"**Remark:** {plain(remark)}", "")]


def published_lines(published: list[dict], rows: list[str] | None = None) -> list[str]:
    """Return a table of published values with their verdicts; rows: the row of each, where there are several."""
    if not published:
        return []
    entries = pd.DataFrame(published)
    frame = pd.DataFrame(
        ({"row": rows} if rows else {})
        | {
            "published by": entries["source"],
            "query set": entries["query_set"],
            "metric": entries["metric"],
            "value": as_text(entries["value"], "g"),
            "±": as_text(entries["tolerance"], "g"),
            "ours": as_text(entries["ours"], ".4f"),
            "difference": as_text(entries["difference"], "+.4f"),
            "verdict": [said(entry["verdict"], entry["because"]) for entry in published],
        }
    )
    return [markdown_table(frame, right=["value", "±", "ours", "difference"]), ""]


def _latency(latency, published):
    frame = pd.DataFrame(
        {
            "ms per query": stage.replace("_", " "),
            "mean": f"{found['mean']:.2f}",
            "95 % interval": "{:.2f} to {:.2f}".format(*found["interval"]),
            **{key: f"{found[key]:.2f}" for key in ("p50", "p95", "p99")},
        }
        for stage, found in latency["ms"].items()
        if found["mean"]
    )
    lines = [markdown_table(frame, right=frame.columns[1:])]
    if "reranked" in latency:
        lines += ["", f"Hits that are re-ranked for a query: {latency['reranked']}."]
    if "instead_of" in latency:
        lines += ["", f"Timed on {latency['queries']} queries, the first of the {latency['instead_of']:,} of faster rows."]
    if latency["cold"]:
        lines += ["", f"Files out of memory beforehand: {latency['cold']['total']['mean']:.2f} ms in the mean, same queries."]
    else:
        lines += ["", f"No cold pass: {plain(latency['cold_skipped'])}."]
    if published is not None:
        lines += ["", f"The paper reports {published:g} ms on its own hardware."]
    return [*lines, ""]


def _significance(test, alpha):
    values = side_by_side({name: test[name] for name in ("system", "baseline")}, test["metric"])
    found = compare(*paired(values, "system", "baseline"), alpha, margin=None)
    low, high = found["interval"]
    return (
        f"Against `{test['baseline_id']}` on {test['query_set']}: {found['difference']:+.4f} {test['metric']} "
        f"({100 * (1 - alpha):g} % interval {low:+.4f} to {high:+.4f}), paired t-test p = {found['p']:.3g} over "
        f"{found['queries']} queries, {found['wins']} won, {found['ties']} tied, {found['losses']} lost. The table corrects p "
        "for the number of comparisons."
    )


def _show(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{plain(key)}: {_show(inner)}" for key, inner in value.items())
    return code(str(value))
