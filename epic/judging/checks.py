"""How each claim of the paper is computed: one small function a kind of claim, named as in claims.yaml.

Each returns a `Found`. Where an experiment lacks what it takes, nothing is computed: that raises with the reason.
"""

from epic.evaluate import read_values
from epic.evidence import Evidence, Found, UncheckedError, of
from epic.frequencies import read_frequencies, share_up_to
from epic.history import best_of, read_history
from epic.timings import overhead
from epic.wordchecks import expands_to, stronger_than_half, strongest_words

VOCABULARY = 30_522  # of the paper's encoder
COUNTED = ["msmarco-passage/train", "msmarco-passage/dev"]  # the queries whose judgments are public


def statistic(evidence: Evidence, model, *keys) -> Found:
    """A number of the collection."""
    value = evidence.statistics
    if not value[keys[0]]["count"]:
        raise UncheckedError(f"no {keys[0]} are counted in this experiment")
    for key in keys:
        value = value[key]
    other = keys[0] == "queries" and evidence.statistics["datasets"] != COUNTED
    return Found(value, differs=("query set",) if other else ())


def best_iteration(evidence: Evidence, model) -> Found:
    """The iteration that training went back to."""
    history = read_history(of(evidence.histories, model, "training of this model"))
    return Found(best_of(history).iteration, detail=f"of {len(history)}")


def effectiveness(evidence: Evidence, model, first_stage, keep) -> Found:
    """MRR@10 of a row, on its own query set."""
    row = evidence.row(model, first_stage, keep)
    differs = () if row["query_set"] == row["published_query_set"] else ("query set",)
    return Found(row["ours"], detail=f"on {row['query_set']}", differs=differs)


def row_value(evidence: Evidence, model, name) -> Found:
    """MRR@10 of a row that needs no model, such as a published run."""
    row = of(evidence.rows, name, f"row {name}")
    return Found(row["ours"], differs=() if row["query_set"] == row["published_query_set"] else ("query set",))


def better(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Significantly better than a first stage."""
    return _direction(evidence, evidence.row(model, first_stage, keep), evidence.first(baseline), 1, ("better", "not better"))


def additive(evidence: Evidence, model, stronger, weaker) -> Found:
    """Significantly better than the stronger first stage, and better than re-ranking the weaker one."""
    system, other = evidence.row(model, stronger, "full"), evidence.row(model, weaker, "full")
    found = better(evidence, model, stronger, "full", stronger)
    if system["ours_headline"] <= other["ours_headline"]:
        detail = f"{system['ours_headline']:.4f} against {other['ours_headline']:.4f} of {other['id']}"
        return Found("not better", False, detail, found.differs)
    return found


def no_difference(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Equivalent to a first stage within the margin."""
    return _equivalence(evidence, evidence.row(model, first_stage, keep), evidence.first(baseline))


def pruned_like_full(evidence: Evidence, model, first_stage, keep) -> Found:
    """Equivalent to the unpruned row within the margin."""
    return _equivalence(evidence, evidence.row(model, first_stage, keep), evidence.row(model, first_stage, "full"))


def pruned_worse(evidence: Evidence, model, first_stage, keep) -> Found:
    """Significantly worse than the unpruned row, and by more than the margin: with many queries a hair is significant."""
    pruned, full = evidence.row(model, first_stage, keep), evidence.row(model, first_stage, "full")
    found, test = _direction(evidence, pruned, full, -1, ("worse", "not worse")), evidence.test(pruned, full)
    if found.holds and -test["difference"] <= (test["margin"] or 0):
        return Found("hardly worse", False, found.detail, found.differs)
    return found


def _direction(evidence: Evidence, system: dict, baseline: dict, sign: int, words: tuple[str, str]) -> Found:
    test, differs = evidence.test(system, baseline), evidence.other_set(system)
    detail = f"{test['difference']:+.4f}, corrected p = {test['p_holm']:.2g}"
    if not test["significant"]:
        return Found("inconclusive", None, detail, differs)
    holds = test["difference"] * sign > 0
    return Found(words[0] if holds else words[1], holds, detail, differs)


def _equivalence(evidence: Evidence, system: dict, baseline: dict) -> Found:
    test, differs = evidence.test(system, baseline), evidence.other_set(system)
    if test["margin"] is None:
        raise UncheckedError(f"no margin of equivalence is declared for {system['id']} and {baseline['id']}")
    detail = (
        f"{test['difference']:+.4f}, corrected p = {test['p_holm']:.2g}; equivalence within ±{test['margin']}: "
        f"corrected p = {test['p_equivalence_holm']:.2g}"
    )
    if test["conclusion"].startswith("equivalent"):
        return Found("no difference", True, detail, differs)
    if test["conclusion"].startswith("different, by less"):  # with many queries a hair is significant; it is known to be one
        return Found("no difference that matters", True, detail, differs)
    return Found("different", False, detail, differs) if test["significant"] else Found("inconclusive", None, detail, differs)


def query_better(evidence: Evidence, model, query, first_stage) -> Found:
    """Whether one query has a higher reciprocal rank with re-ranking than without."""
    values = []
    for row in (evidence.row(model, first_stage, "full"), evidence.first(first_stage)):
        found = read_values(evidence.values[row["id"]])["RR@10"]
        values.append(of(found, query, f"query {query}"))
    return Found(
        "higher" if values[0] > values[1] else "not higher", values[0] > values[1], f"{values[0]:.3f} and {values[1]:.3f}"
    )


def values_at_most(evidence: Evidence, model, tenths) -> Found:
    """The share of values that round up to so many tenths or less."""
    return Found(share_up_to(read_frequencies(of(evidence.frequencies, model, "count of values")), tenths))


def cutoff(evidence: Evidence, model, first_stage) -> Found:
    """The tuned re-ranking cut-off."""
    found = of(evidence.cutoffs, (model, first_stage), f"cut-off on {first_stage}")
    return Found(found["cutoff"], detail=f"of 1 to {len(found['curve'])}")


def lower_cutoff(evidence: Evidence, model, lower, higher) -> Found:
    """Whether one first stage needs fewer re-ranked hits than another."""
    left, right = (cutoff(evidence, model, stage).value for stage in (lower, higher))
    return Found("lower" if left < right else "not lower", left < right, f"{left} on {lower}, {right} on {higher}")


def query_vector_ms(evidence: Evidence, model, device) -> Found:
    """Mean milliseconds of a query vector, where it was computed on that device."""
    used = of(evidence.costs, model, "cost of this model")["compute"]["device"]
    if used != device:
        raise UncheckedError(f"the model runs on {used} in this experiment")
    return _stage_ms(evidence, model, "query_vector")


def score_ms(evidence: Evidence, model) -> Found:
    """Mean milliseconds of scoring."""
    return _stage_ms(evidence, model, "score")


def _stage_ms(evidence: Evidence, model, stage: str) -> Found:
    row = evidence.row(model, "bm25", 1000)
    found = of(evidence.latencies, row["id"], "latency")["ms"][stage]
    return Found(found["mean"], detail=f"{row['id']}, p95 {found['p95']:.2g} ms")


def mostly_loading(evidence: Evidence, model, first_stage, keep) -> Found:
    """Whether loading vectors takes longer than scoring them."""
    ms = of(evidence.latencies, evidence.row(model, first_stage, keep)["id"], "latency")["ms"]
    load, score = ms["load"]["mean"], ms["score"]["mean"]
    return Found("loading" if load > score else "scoring", load > score, f"{load:.2g} ms loading, {score:.2g} ms scoring")


def slower(evidence: Evidence, model, stage, keep, other_stage, other_keep) -> Found:
    """Whether one row takes longer than another, query by query."""
    left, right = evidence.row(model, stage, keep), evidence.row(model, other_stage, other_keep)
    low, high = overhead(evidence.timings[left["id"]], evidence.timings[right["id"]])["ms"]["interval"]
    detail = f"{left['ours_ms']:.1f} and {right['ours_ms']:.1f} ms, difference {low:+.1f} to {high:+.1f} ms"
    # The authors load unpruned vectors whole; here only the query's terms of them are read.
    differs = ("loading",) if (keep == "full") != (other_keep == "full") else ()
    if low <= 0 <= high:
        return Found("inconclusive", None, detail, differs)
    return Found("slower" if low > 0 else "not slower", low > 0, detail, differs)


def overhead_ms(evidence: Evidence, model, first_stage, keep) -> Found:
    """Mean milliseconds that re-ranking adds to its first stage, query by query."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(first_stage)
    found = overhead(evidence.timings[row["id"]], evidence.timings[first["id"]])["ms"]
    return Found(found["mean"], detail="{:.1f} to {:.1f} ms".format(*found["interval"]), interval=found["interval"])


def speed_up(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """How many times as fast as a first stage."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(baseline)
    found = overhead(evidence.timings[row["id"]], evidence.timings[first["id"]])["speed_up"]
    return Found(found["mean"], detail="{:.2f} to {:.2f}".format(*found["interval"]), interval=found["interval"])


def cost(evidence: Evidence, model, keep, key, unit=1) -> Found:
    """A number of a store; the same for every model of an encoder."""
    if not evidence.costs:
        raise UncheckedError("no model is run here")
    found = next(iter(evidence.costs.values()))
    stores = {store["keep"]: store for store in found["stores"]}
    differs = () if found["vocabulary"] == VOCABULARY else ("vocabulary",)
    return Found(of(stores, keep, f"store of r={keep}")[key] / unit, differs=differs)


def cost_hours(evidence: Evidence, model) -> Found:
    """Hours for MS MARCO at the rate that was measured."""
    found = of(evidence.costs, model, "cost of this model")
    rate, device = found["passages_per_second"], found["compute"]["device"]
    return Found(found["ms_marco_hours"], detail=f"at {rate:.0f} passages/s on {device}")


WITHOUT_MODEL = {"statistic", "cost", "row_value"}
_OF_QUALITY = (effectiveness, row_value, better, additive, no_difference, pruned_like_full, pruned_worse, query_better)
_OF_TEXTS = (strongest_words, stronger_than_half, expands_to, values_at_most)
_OF_TIME = (cutoff, lower_cutoff, query_vector_ms, score_ms, mostly_loading, slower, overhead_ms, speed_up, cost, cost_hours)
CHECKS = {check.__name__: check for check in (statistic, best_iteration, *_OF_QUALITY, *_OF_TEXTS, *_OF_TIME)}
