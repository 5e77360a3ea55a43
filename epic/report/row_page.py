"""A row as a page for people: effectiveness, published values, latency, significance, settings, and how to make it."""

from epic.evaluate import read_values
from epic.files import read_json, write_text
from epic.rows import published_ms
from epic.significance import compare, paired
from epic.verdicts import said


def render_row(row_path, latency_path, tests: list[dict], alpha: float, note: str, command: str, out) -> None:
    """Write the page; tests: baseline, query set, measure and the two files of per-query values of each test to show."""
    row = read_json(row_path)
    lines = [f"# {row['label']}", "", f"Row `{row['id']}`, {row['group'].lower()}.", ""]
    lines += _effectiveness(row) if row["metrics"] else ["**Not run here**; the published values are:", ""]
    lines += _published(row)
    if latency_path:
        lines += _latency(read_json(latency_path), published_ms(row))
    lines += [text for test in tests for text in (_significance(test, alpha), "")]
    if row["settings"]:
        lines += ["## Settings", "", "| key | value |", "|---|---|"]
        lines += [*(f"| {key} | {_show(value)} |" for key, value in row["settings"].items()), ""]
        lines += ["Made by:", "", "```sh", command, "```", ""]
    write_text(out, "\n".join([*lines, f"*{note}*", ""]))


def _effectiveness(row):
    lines = []
    for name, found in row["metrics"].items():
        measured = {metric: value for metric, value in found.items() if metric != "queries"}
        lines += [
            f"| {name}, {found['queries']} queries | " + " | ".join(measured) + " |",
            "|---" + "|---:" * len(measured) + "|",
        ]
        lines += ["| mean | " + " | ".join(f"{value:.4f}" for value in measured.values()) + " |", ""]
    return lines


def _published(row):
    if not row["published"]:
        return []
    lines = [
        "| published by | query set | metric | value | ± | ours | difference | verdict |",
        "|---|---|---|---:|---:|---:|---:|---|",
    ]
    for entry in row["published"]:
        ours, difference = (
            "-" if entry[key] is None else f"{entry[key]:{form}}" for key, form in (("ours", ".4f"), ("difference", "+.4f"))
        )
        tolerance = "-" if entry["tolerance"] is None else f"{entry['tolerance']:g}"
        cells = [entry["source"], entry["query_set"], entry["metric"], f"{entry['value']:g}", tolerance, ours, difference]
        lines.append(f"| {' | '.join(cells)} | {said(entry['verdict'], entry['because'])} |")
    return [*lines, ""]


def _latency(latency, published):
    lines = ["| ms per query | mean | 95 % interval | p50 | p95 | p99 |", "|---|---:|---:|---:|---:|---:|"]
    for stage, found in latency["ms"].items():
        if found["mean"]:
            low, high = found["interval"]
            cells = [f"{found['mean']:.2f}", f"{low:.2f} to {high:.2f}", *(f"{found[key]:.2f}" for key in ("p50", "p95", "p99"))]
            lines.append(f"| {stage.replace('_', ' ')} | {' | '.join(cells)} |")
    if latency["cold"]:
        lines += ["", f"Files out of memory beforehand: {latency['cold']['total']['mean']:.2f} ms in the mean, same queries."]
    else:
        lines += ["", f"No cold pass: {latency['cold_skipped']}."]
    if published is not None:
        lines += ["", f"The paper reports {published:g} ms on its own hardware."]
    return [*lines, ""]


def _significance(test, alpha):
    values = {name: read_values(test[name])[test["metric"]] for name in ("system", "baseline")}
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
        return ", ".join(f"{key}: {_show(inner)}" for key, inner in value.items())
    return f"`{value}`"
