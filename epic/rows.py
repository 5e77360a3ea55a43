"""One row of the results table: what was run, what came out, and what was published."""

from pathlib import Path

from epic.evaluate import mean, read_values
from epic.files import read_json, sha256_of, write_json, write_text
from epic.store import model_digest

NOT_RUN = "not run"


def verdict(entry: dict, metrics: dict) -> str:
    """How our value compares with a published one; only values of the same query set are compared."""
    if not metrics:
        return NOT_RUN
    if entry["query_set"] not in metrics:
        return "not comparable"
    if entry["tolerance"] is None or entry["metric"] not in metrics[entry["query_set"]]:
        return "not comparable"
    difference = metrics[entry["query_set"]][entry["metric"]] - entry["value"]
    if abs(difference) <= entry["tolerance"]:
        return "match"
    return "above" if difference > 0 else "below"


def metrics_of(evaluations: dict) -> dict:
    """Means by query set from per-query tables; evaluations: query set -> path."""
    metrics = {}
    for query_set, path in evaluations.items():
        values = read_values(path)
        means = {metric: mean(by_query.values()) for metric, by_query in values.items()}
        metrics[query_set] = means | {"queries": len(next(iter(values.values())))}
    return metrics


def write_row(row: dict, settings: dict, query_sets: list, evaluations: list, runs: list, cutoff_path, checkpoint, out) -> None:
    """Everything about a row that is deterministic; evaluations and runs in the order of `query_sets`."""
    metrics = metrics_of(dict(zip(query_sets, evaluations, strict=True)))
    facts = {"id": row["id"], "label": row["label"], "group": row["group"], "kind": row["kind"], "settings": dict(settings)}
    if checkpoint:
        facts["settings"] |= {"cutoff": read_json(cutoff_path)["cutoff"], "model_sha256": model_digest(checkpoint)}
    facts["metrics"] = metrics
    facts["runs_sha256"] = {name: sha256_of(path) for name, path in zip(query_sets, runs, strict=True)}
    facts["published"] = [entry | {"verdict": verdict(entry, metrics)} for entry in row["published"]]
    write_json(out, facts)


def comparison_of(row: dict, headline: str) -> dict:
    """What a table shows of a row: the paper's value, ours on the same query set or else on the headline one, verdict."""
    entries = [entry for entry in row["published"] if entry["metric"] == "RR@10" and entry["source"] == "paper"]
    published = entries[0] if entries else None
    query_set = published["query_set"] if published and published["query_set"] in row["metrics"] else headline
    ours = row["metrics"].get(query_set, {}).get("RR@10")
    found = {"query_set": query_set if row["metrics"] else None, "ours": ours}
    found["published"] = published["value"] if published else None
    found["published_query_set"] = published["query_set"] if published else None
    found["verdict"] = published["verdict"] if published else ("not published" if row["metrics"] else NOT_RUN)
    return found


def published_ms(row: dict):
    """The paper's latency of a row, or None."""
    return next((entry["value"] for entry in row["published"] if entry["metric"] == "ms/query"), None)


def render_row(row_path, latency_path, significance_paths, note: str, out) -> None:
    """The row as a page for people: effectiveness, latency, significance, settings."""
    row = read_json(row_path)
    lines = [f"# {row['label']}", "", f"Row `{row['id']}`, {row['group'].lower()}.", ""]
    lines += _effectiveness(row) if row["metrics"] else ["**Not run here**; the published values are:", ""]
    lines += _published(row)
    if latency_path:
        lines += _latency(read_json(latency_path), published_ms(row))
    for path in significance_paths:
        lines += [_significance(path, row["id"]), ""]
    if row["settings"]:
        lines += ["## Settings", "", "| key | value |", "|---|---|"]
        lines += [*(f"| {key} | {_show(value)} |" for key, value in row["settings"].items()), ""]
    write_text(out, "\n".join([*lines, f"*{note}*", ""]))


def _effectiveness(row):
    lines = ["| query set | queries | MRR@10 | nDCG@10 |", "|---|---:|---:|---:|"]
    for name, found in row["metrics"].items():
        lines.append(f"| {name} | {found['queries']} | {found['RR@10']:.4f} | {found['nDCG@10']:.4f} |")
    return [*lines, ""]


def _published(row):
    if not row["published"]:
        return []
    lines = ["| published by | query set | metric | value | verdict |", "|---|---|---|---:|---|"]
    for entry in row["published"]:
        judged = "no verdict" if entry["metric"] == "ms/query" and row["metrics"] else entry["verdict"]
        lines.append(f"| {entry['source']} | {entry['query_set']} | {entry['metric']} | {entry['value']:g} | {judged} |")
    return [*lines, ""]


def _latency(latency, published):
    lines = ["| ms per query | mean | p50 | p95 | p99 |", "|---|---:|---:|---:|---:|"]
    for stage, found in latency["ms"].items():
        if found["mean"]:
            cells = " | ".join(f"{found[key]:.2f}" for key in ("mean", "p50", "p95", "p99"))
            lines.append(f"| {stage.replace('_', ' ')} | {cells} |")
    if published is not None:
        lines += ["", f"The paper reports {published:g} ms on its own hardware."]
    return [*lines, ""]


def _significance(path, system):
    found = read_json(path)
    baseline = Path(path).stem.removeprefix(f"{system}-vs-")
    word = "significant" if found["significant"] else "not significant"
    return (
        f"Against `{baseline}` on {Path(path).parent.name}: {found['difference']:+.4f} MRR@10, paired t-test "
        f"p = {found['p']:.3g} over {found['queries']} queries, {word} at {found['alpha']:g}."
    )


def _show(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_show(inner)}" for key, inner in value.items())
    return f"`{value}`"
