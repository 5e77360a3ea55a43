"""One row of the results table: its settings, its results, and the published values."""

from pathlib import Path

from epic.core.files import read_json, sha256_of, write_json
from epic.core.places import placeless
from epic.corpus.query_counts import refuse_other_ids
from epic.corpus.runs import read_answers
from epic.evaluation.evaluate import read_values
from epic.evaluation.measures import mean
from epic.judging.verdicts import NOT_PUBLISHED, NOT_RUN, judge, published_values
from epic.model.checkpoint import model_digest


def metrics_of(query_sets: list, evaluations: list, answers: list, counts: list) -> dict:
    """Return means by query set from per-query tables; `answered` only where a run has no hits for some judged queries."""
    metrics = {}
    for query_set, path, answered_path, counts_path in zip(query_sets, evaluations, answers, counts, strict=True):
        values, without = read_values(path), read_answers(answered_path).without_hits
        refuse_other_ids(path, values.index, counts_path)
        answered = sum(query_id not in without for query_id in values.index)
        metrics[query_set] = values.apply(mean).to_dict() | {"queries": len(values)}
        if answered < len(values):
            metrics[query_set]["answered"] = answered
    return metrics


def write_row(row: dict, settings: dict, differs: list, depths: dict, evaluated: tuple, runs: list, model, out) -> None:
    """Write everything about a row that is deterministic; evaluated: its values, queries without hits, and judged queries.

    depths: hits of a query in the runs of each query set; these three and runs are in its order. model: (cut-off file,
    checkpoint) of a row that re-ranks, without a cut-off of one that is only timed with a model, else None.
    """
    metrics = metrics_of(list(depths), *evaluated)
    facts = {key: row.get(key) for key in ("id", "label", "group", "kind", "first_stage", "model", "keep")}
    facts["settings"] = placeless(settings)
    if model:
        cutoff, checkpoint = model
        of = facts["settings"] if cutoff else facts["settings"]["timed"]
        of |= ({"cutoff": read_json(cutoff)["cutoff"]} if cutoff else {}) | {"model_sha256": model_digest(checkpoint)}
        remarks = _remarks(checkpoint) + (_shallow(of["cutoff"], depths) if cutoff else [])
        facts |= {"remarks": remarks} if remarks else {}
    if "timed" in settings:
        facts["sources"] = sources_of(settings["timed"])
    facts["metrics"] = metrics
    facts["runs_sha256"] = {name: sha256_of(path) for name, path in zip(depths, runs, strict=True)}
    facts["published"] = [judge(entry, metrics, differs) for entry in row["published"]]
    write_json(out, facts)


def _remarks(checkpoint) -> list[str]:
    """Return what is to be remarked on the training of a row's model, such as a member that did not learn; often nothing."""
    facts = Path(checkpoint) / "ranker.json"
    return (read_json(facts).get("remarks") if facts.exists() else None) or []


def _shallow(cutoff: int, depths: dict[str, int]) -> list[str]:
    """Name the query sets whose runs end above the cut-off."""
    less = [f"{name} has {hits} hits a query" for name, hits in depths.items() if hits < cutoff]
    return [f"The cut-off is {cutoff}, but {said}: all of them are re-ranked there, and no more." for said in less]


def sources_of(timed: dict) -> dict[str, str]:
    """Say where the numbers of a published run come from that is timed by running a model."""
    model, first_stage = timed["model"]["id"], timed["first_stage"]["id"]
    ran = f"the model {model}, run here over the first {timed['hits']} hits of {first_stage}"
    return {"effectiveness": "the published run", "latency": ran}


def comparison_of(row: dict, headline: str, measure: str) -> dict:
    """Return a row's part of the table: the published value, ours on the same query set or else the headline one, verdict.

    The published value is the paper's or, in a row that the paper does not have, the first of another source.
    """
    published = next(iter(published_values(row, measure)), None)
    wanted = [published["query_set"] if published else headline, headline, *row["metrics"]]
    query_set = next((name for name in wanted if name in row["metrics"]), headline)
    ours = {name: row["metrics"].get(name, {}).get(measure) for name in (query_set, headline)}
    found = {"query_set": query_set if row["metrics"] else None, "ours": ours[query_set], "ours_headline": ours[headline]}
    if published is None:
        nothing = {"published": None, "published_query_set": None, "source": None, "tolerance": None, "difference": None}
        nothing |= {"because": []}
        return found | nothing | {"verdict": NOT_PUBLISHED if row["metrics"] else NOT_RUN}
    found |= {"published": published["value"], "published_query_set": published["query_set"]}
    return found | {key: published[key] for key in ("source", "tolerance", "difference", "verdict", "because")}


def coverage_of(row: dict, query_set: str | None) -> dict:
    """Return for how many of the judged queries a row's run has hits; nothing if it has some for all."""
    found = row["metrics"].get(query_set, {})
    return {"answered": found["answered"], "judged": found["queries"]} if "answered" in found else {}


def published_ms(row: dict):
    """Return the paper's latency of a row, or None."""
    return next((entry["value"] for entry in row["published"] if entry["metric"] == "ms/query"), None)
