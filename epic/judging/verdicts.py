"""Our numbers against the published ones: row by row, and over the whole table."""

from itertools import combinations

MATCH, ABOVE, BELOW = "match", "above", "below"
NOT_COMPARABLE, NOT_RUN, NOT_PUBLISHED = "not comparable", "not run", "not published"
OTHER = "other "
ROUNDING = 1e-12  # 0.31 - 0.30 is a little more than 0.01


def judge(entry: dict, metrics: dict, differs: list[str]) -> dict:
    """Return a published entry with our value, the difference and the verdict, or why there is none.

    Values are compared only if collection, encoder, query set and measure are the same. A higher value is not a match.
    """
    if not metrics:
        return entry | {"ours": None, "difference": None, "verdict": NOT_RUN, "because": []}
    ours = metrics.get(entry["query_set"], {}).get(entry["metric"])
    because = [OTHER + name for name in differs]
    if entry["metric"] == "ms/query":
        because = [OTHER + "hardware"]
    elif ours is None:
        because.append(OTHER + ("measure" if entry["query_set"] in metrics else "query set"))
    if not because and entry["tolerance"] is None:
        because = ["no tolerance is given"]
    if because:
        return entry | {"ours": ours, "difference": None, "verdict": NOT_COMPARABLE, "because": because}
    difference = ours - entry["value"]
    within = abs(difference) <= entry["tolerance"] + ROUNDING
    verdict = MATCH if within else ABOVE if difference > 0 else BELOW
    return entry | {"ours": ours, "difference": difference, "verdict": verdict, "because": []}


def said(verdict: str, because: list[str]) -> str:
    """Format a verdict with its reasons, for people; `other` is said once."""
    reasons = ", ".join(because)
    if because and all(reason.startswith(OTHER) for reason in because):
        reasons = OTHER + ", ".join(reason.removeprefix(OTHER) for reason in because)
    return f"{verdict}: {reasons}" if because else verdict


def kendall_tau(published: list[float], ours: list[float]) -> float | None:
    """Return Kendall's tau-b of two orders of the same systems, with ties; None if one of them orders nothing.

    scipy.stats gives the same, but takes a second to import.
    """
    pairs = list(combinations(range(len(published)), 2))
    left = [_sign(published[i] - published[j]) for i, j in pairs]
    right = [_sign(ours[i] - ours[j]) for i, j in pairs]
    scale = sum(map(abs, left)) * sum(map(abs, right))
    return sum(a * b for a, b in zip(left, right, strict=True)) / scale**0.5 if scale else None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def effect_ratio(published: tuple[float, float], ours: tuple[float, float]) -> float | None:
    """Return ER: our improvement over the baseline, relative to the published one; 1 is a perfect reproduction.

    Both are (system, baseline). ER is None if the publication gained nothing.
    """
    gained = published[0] - published[1]
    return (ours[0] - ours[1]) / gained if gained else None


def delta_relative_improvement(published: tuple[float, float], ours: tuple[float, float]) -> float | None:
    """Return Delta RI: the published relative improvement minus ours; 0 is perfect, below 0 means that ours is larger."""
    if not published[1] or not ours[1]:
        return None
    return (published[0] - published[1]) / published[1] - (ours[0] - ours[1]) / ours[1]


def over_the_table(rows: list[dict], headline: str, measure: str) -> dict:
    """Compare, model by model, the order of the systems, and the gain of each re-ranker over its own first stage.

    Our values are all on the headline query set; the published ones are the paper's, which mixes query sets.
    """
    ours = {row["id"]: row["metrics"][headline][measure] for row in rows if headline in row["metrics"]}
    published = {row["id"]: entry for row in rows if (entry := paper_value(row, measure)) and row["id"] in ours}
    known = [row for row in rows if row["id"] in published]
    first = {row["first_stage"]: row["id"] for row in known if row["kind"] == "first-stage"}
    found = []
    for model in dict.fromkeys(row["model"] for row in known if row["kind"] == "model"):
        systems = [row for row in known if row["kind"] == "first-stage" or row["model"] == model]
        values = [[published[row["id"]]["value"] for row in systems], [ours[row["id"]] for row in systems]]
        gains = []
        for row in systems:
            if row["kind"] == "model" and (baseline := first.get(row["first_stage"])):
                pairs = tuple(published[name]["value"] for name in (row["id"], baseline)), (ours[row["id"]], ours[baseline])
                measured = {
                    "effect_ratio": effect_ratio(*pairs),
                    "delta_relative_improvement": delta_relative_improvement(*pairs),
                }
                gains.append({"system": row["id"], "baseline": baseline} | measured)
        differs = {reason for row in systems for reason in published[row["id"]]["because"]}
        if any(published[row["id"]]["query_set"] != headline for row in systems):
            differs.add(OTHER + "query set")
        order = {"model": model, "systems": len(systems), "kendall_tau": kendall_tau(*values), "because": sorted(differs)}
        found.append(order | {"gains": gains})
    return {"query_set": headline, "models": found}


def paper_value(row: dict, measure: str) -> dict | None:
    """Return the paper's own value of a row by a measure, judged; None if the paper has none."""
    return next((entry for entry in published_values(row, measure) if entry["source"] == "paper"), None)


def published_values(row: dict, measure: str) -> list[dict]:
    """List every published value of a row by a measure, judged, the paper's first."""
    entries = [entry for entry in row["published"] if entry["metric"] == measure]
    return sorted(entries, key=lambda entry: entry["source"] != "paper")
