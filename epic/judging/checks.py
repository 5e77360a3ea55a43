"""Computation of the paper's claims: one small function for each kind of claim, named as in claims.yaml.

Each function returns a `Found`. If an experiment lacks the data, nothing is computed: the function raises with the reason.
"""

from epic.corpus.msmarco import VOCABULARY
from epic.evaluation.evaluate import read_values
from epic.judging.evidence import Evidence, Found, UncheckedError, paired_timings, require
from epic.latency.timings import overhead
from epic.training.history import best_of, read_history
from epic.vectors.frequencies import read_frequencies, share_up_to

COUNTED = ["msmarco-passage/train", "msmarco-passage/dev"]  # the query sets with public judgments


def statistic(evidence: Evidence, model, *keys) -> Found:
    """Return a number of the collection."""
    value = evidence.statistics
    if not value[keys[0]]["count"]:
        raise UncheckedError(f"no {keys[0]} are counted in this experiment")
    for key in keys:
        if key not in value:
            raise UncheckedError("no word-pieces are counted here: no model precomputes vectors")
        value = value[key]
    other = keys[0] == "queries" and evidence.statistics["datasets"] != COUNTED
    return Found(value, differs=("query set",) if other else ())


def best_iteration(evidence: Evidence, model) -> Found:
    """Return the iteration that training went back to."""
    history = read_history(require(evidence.histories, model, "training of this model"))
    return Found(best_of(history).iteration, detail=f"of {len(history)}")


def effectiveness(evidence: Evidence, model, first_stage, keep) -> Found:
    """Return the value of a row by the measure of the table, on its own query set."""
    row = evidence.row(model, first_stage, keep)
    differs = () if row["query_set"] == row["published_query_set"] else ("query set",)
    return Found(row["ours"], detail=f"on {row['query_set']}", differs=differs)


def row_value(evidence: Evidence, model, name) -> Found:
    """Return the value of a row that needs no model, such as a published run, by the measure of the table."""
    row = require(evidence.rows, name, f"row {name}")
    return Found(row["ours"], differs=() if row["query_set"] == row["published_query_set"] else ("query set",))


def better(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Check that a row is significantly better than a first stage."""
    return _direction(evidence, evidence.row(model, first_stage, keep), evidence.first(baseline), 1, ("better", "not better"))


def additive(evidence: Evidence, model, stronger, weaker) -> Found:
    """Check that a row is significantly better than the stronger first stage, and better than re-ranking the weaker one."""
    system, other = evidence.row(model, stronger, "full"), evidence.row(model, weaker, "full")
    found = better(evidence, model, stronger, "full", stronger)
    if system["ours_headline"] <= other["ours_headline"]:
        detail = f"{system['ours_headline']:.4f} against {other['ours_headline']:.4f} of {other['id']}"
        return Found("not better", False, detail, found.differs)
    return found


def no_difference(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Check that a row is equivalent to a first stage within the margin."""
    return _equivalence(evidence, evidence.row(model, first_stage, keep), evidence.first(baseline))


def pruned_like_full(evidence: Evidence, model, first_stage, keep) -> Found:
    """Check that a pruned row is equivalent to the unpruned row within the margin."""
    return _equivalence(evidence, evidence.row(model, first_stage, keep), evidence.row(model, first_stage, "full"))


def pruned_worse(evidence: Evidence, model, first_stage, keep) -> Found:
    """Check that a row is significantly worse than unpruned, by more than the margin: many queries make a hair significant."""
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
    if test["conclusion"].startswith("different, by less"):  # many queries make a hair significant; this is known to be one
        return Found("no difference that matters", True, detail, differs)
    return Found("different", False, detail, differs) if test["significant"] else Found("inconclusive", None, detail, differs)


def query_better(evidence: Evidence, model, query, first_stage) -> Found:
    """Tell whether one query has a higher value with re-ranking than without."""
    values = []
    for row in (evidence.row(model, first_stage, "full"), evidence.first(first_stage)):
        found = read_values(evidence.values[row["id"]], evidence.measure)[evidence.measure].to_dict()
        values.append(require(found, query, f"query {query}"))
    return Found(
        "higher" if values[0] > values[1] else "not higher", values[0] > values[1], f"{values[0]:.3f} and {values[1]:.3f}"
    )


def values_at_most(evidence: Evidence, model, tenths) -> Found:
    """Return the share of values that round up to so many tenths or less."""
    return Found(share_up_to(read_frequencies(require(evidence.frequencies, model, "count of values")), tenths))


def cutoff(evidence: Evidence, model, first_stage) -> Found:
    """Return the tuned re-ranking cut-off."""
    found = require(evidence.cutoffs, (model, first_stage), f"cut-off on {first_stage}")
    return Found(found["cutoff"], detail=f"of 1 to {len(found['curve'])}")


def lower_cutoff(evidence: Evidence, model, lower, higher) -> Found:
    """Tell whether one first stage needs fewer re-ranked hits than another."""
    left, right = (cutoff(evidence, model, stage).value for stage in (lower, higher))
    return Found("lower" if left < right else "not lower", left < right, f"{left} on {lower}, {right} on {higher}")


def query_vector_ms(evidence: Evidence, model, device, first_stage, keep) -> Found:
    """Return mean milliseconds of a query vector in a row, if it was computed on that device."""
    used = require(evidence.costs, model, "cost of this model")["compute"]["device"]
    if used != device:
        raise UncheckedError(f"the model runs on {used} in this experiment")
    return _stage_ms(evidence, evidence.row(model, first_stage, keep), "query_vector")


def score_ms(evidence: Evidence, model, first_stage, keep) -> Found:
    """Return mean milliseconds of scoring in a row."""
    return _stage_ms(evidence, evidence.row(model, first_stage, keep), "score")


def row_ms(evidence: Evidence, model, name) -> Found:
    """Return mean milliseconds per query of a row that needs no model, such as a published run that is timed by running one."""
    return _stage_ms(evidence, require(evidence.rows, name, f"row {name}"), "total")


def _stage_ms(evidence: Evidence, row: dict, stage: str) -> Found:
    found = require(evidence.latencies, row["id"], "latency")["ms"][stage]
    return Found(found["mean"], detail=f"{row['id']}, p95 {found['p95']:.2g} ms")


def mostly_loading(evidence: Evidence, model, first_stage, keep) -> Found:
    """Tell whether loading vectors takes longer than scoring them."""
    ms = require(evidence.latencies, evidence.row(model, first_stage, keep)["id"], "latency")["ms"]
    load, score = ms["load"]["mean"], ms["score"]["mean"]
    return Found("loading" if load > score else "scoring", load > score, f"{load:.2g} ms loading, {score:.2g} ms scoring")


def slower(evidence: Evidence, model, stage, keep, other_stage, other_keep) -> Found:
    """Tell whether one row takes longer than another, query by query."""
    left, right = evidence.row(model, stage, keep), evidence.row(model, other_stage, other_keep)
    low, high = overhead(*paired_timings(evidence.timings, left["id"], right["id"]))["ms"]["interval"]
    detail = f"{left['ours_ms']:.1f} and {right['ours_ms']:.1f} ms, difference {low:+.1f} to {high:+.1f} ms"
    # The authors load unpruned vectors whole; here only the query's terms are read from them.
    differs = ("loading",) if (keep == "full") != (other_keep == "full") else ()
    if low <= 0 <= high:
        return Found("inconclusive", None, detail, differs)
    return Found("slower" if low > 0 else "not slower", low > 0, detail, differs)


def overhead_ms(evidence: Evidence, model, first_stage, keep) -> Found:
    """Return mean milliseconds that re-ranking adds to its first stage, query by query."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(first_stage)
    found = overhead(*paired_timings(evidence.timings, row["id"], first["id"]))["ms"]
    return Found(found["mean"], detail="{:.1f} to {:.1f} ms".format(*found["interval"]), interval=found["interval"])


def speed_up(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Return the ratio of a first stage's time to a row's."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(baseline)
    found = overhead(*paired_timings(evidence.timings, row["id"], first["id"]))["speed_up"]
    return Found(found["mean"], detail="{:.2f} to {:.2f}".format(*found["interval"]), interval=found["interval"])


def cost(evidence: Evidence, model, keep, key, unit=1) -> Found:
    """Return a number of a store; it is the same for every model of an encoder."""
    if not evidence.costs:
        raise UncheckedError("no model is run here")
    found = next(iter(evidence.costs.values()))
    stores = {store["keep"]: store for store in found["stores"]}
    differs = () if found["vocabulary"] == VOCABULARY else ("vocabulary",)
    return Found(require(stores, keep, f"store of r={keep}")[key] / unit, differs=differs)


def cost_hours(evidence: Evidence, model) -> Found:
    """Return hours for MS MARCO at the measured rate."""
    found = require(evidence.costs, model, "cost of this model")
    rate, device = found["passages_per_second"], found["compute"]["device"]
    return Found(found["ms_marco_hours"], detail=f"at {rate:.0f} passages/s on {device}")


def strongest_words(evidence: Evidence, model, text, *words) -> Found:
    """Tell whether some words are the strongest of a query."""
    weights = _query(evidence, model, text)
    top = sorted(weights, key=lambda word: -weights[word])[: len(words)]
    return Found(
        "strongest" if set(top) == set(words) else "not strongest", set(top) == set(words), f"strongest: {', '.join(top)}"
    )


def stronger_than_half(evidence: Evidence, model, text, word) -> Found:
    """Tell whether a word is among the stronger half of a query's."""
    weights = _query(evidence, model, text)
    above = sum(weight > weights[word] for weight in weights.values())
    holds = above < len(weights) / 2
    return Found("high" if holds else "not high", holds, f"{above + 1}. of {len(weights)} words")


def _query(evidence: Evidence, model, text) -> dict[str, float]:
    for query in require(evidence.texts, model, "text of this model")["queries"]:
        if query["text"] == text:
            return dict(zip(query["pieces"], query["weights"], strict=True))
    raise UncheckedError("this query is not shown here")


def expands_to(evidence: Evidence, model, words, term) -> Found:
    """Tell whether a term is among the strongest that a passage, known by some of its words, does not contain."""
    for passage in require(evidence.texts, model, "text of this model")["passages"]:
        if words in passage["text"].lower():
            terms = passage["expansion"]["pieces"]
            return Found("among them" if term in terms else "not among them", term in terms, ", ".join(terms))
    raise UncheckedError("this passage is not shown here")


WITHOUT_MODEL = {"statistic", "cost", "row_value", "row_ms"}
_OF_QUALITY = (effectiveness, row_value, better, additive, no_difference, pruned_like_full, pruned_worse, query_better)
_OF_TEXTS = (strongest_words, stronger_than_half, expands_to, values_at_most)
_OF_MODELS_TIME = (cutoff, lower_cutoff, query_vector_ms, score_ms, mostly_loading, slower, overhead_ms, speed_up, cost_hours)
_OF_TIME = (*_OF_MODELS_TIME, row_ms, cost)
OF_MEASURE = {check.__name__ for check in _OF_QUALITY}  # what they find is of the table's measure
OF_SELECTION = {check.__name__ for check in (best_iteration, cutoff, lower_cutoff)}  # of the one that chose it
CHECKS = {check.__name__: check for check in (statistic, best_iteration, *_OF_QUALITY, *_OF_TEXTS, *_OF_TIME)}
