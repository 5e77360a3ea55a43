"""The cost of a job, by a formula over its settings: bytes it writes, seconds it runs. The numbers are in planning.rates."""

import math
from typing import NamedTuple

from epic.corpus.folder import MADE
from epic.experiment.lookup import encoder_named, find, is_pruned, precomputes, tuning_set, validation_set
from epic.experiment.measurements import rows_timed
from epic.planning import rates


class Job(NamedTuple):
    """A job that would run, as the workflow describes it."""

    rule: str
    wildcards: dict[str, str]
    threads: int = 1
    gpus: int = 0
    memory_mb: int = 0
    local: bool = True  # it runs on this machine, not on a node of a cluster
    outputs: tuple[str, ...] = ()


class Collection(NamedTuple):
    """The sizes of a collection and of its query sets."""

    passages: int
    passage_bytes: float
    queries: dict[str, int]  # query set -> number of queries


class Cost(NamedTuple):
    """The cost of one job: bytes it leaves on the disk, bytes it needs there while it runs, and its time."""

    written: float
    seconds: float
    scratch: float = 0.0


def cost(job: Job, settings: dict, collection: Collection) -> Cost:
    """Estimate one job; a rule without a formula writes little and ends quickly."""
    formula = FORMULAS.get(job.rule)
    return formula(job, settings, collection) if formula else Cost(rates.SMALL, rates.START)


def _fetch(job, settings, collection):
    (download,) = (download for download in settings["downloads"] if download["file"] == job.wildcards["file"])
    return Cost(0.0, rates.START + size_of_download(download) * rates.DISK)  # epic.planning.sources counts what is fetched


def size_of_download(download: dict) -> float:
    """Return the bytes of a published file, assumed if they are not published."""
    return download["bytes"] or rates.DOWNLOAD_OF_UNKNOWN_SIZE


def _data(job, settings, collection):
    repair = 0 if settings["data"]["documents"].startswith(("path:", MADE)) else rates.REPAIR
    return Cost(rates.SMALL, rates.START + collection.passages * (repair + rates.STORE))


def _queries(job, settings, collection):
    return Cost(rates.QUERY * _asked(job, collection), rates.START)


def _triples(job, settings, collection):
    count = settings["train"]["max_validations"] * settings["train"]["validate_every"]
    return Cost(rates.TRIPLE * count, rates.START + rates.DOCPAIR * count)


def _encoder(job, settings, collection):
    source = encoder_named(settings, job.wildcards["encoder"])["source"]
    return Cost(rates.encoder_named(source).weights, rates.START)


def _expand(job, settings, collection):
    text = _text(job, settings, collection)
    reading = rates.READ + rates.PREDICTED * _samples(job, settings)
    return Cost(text + rates.JSON_LINE * collection.passages, rates.START + collection.passages * reading)


def _index(job, settings, collection):
    text = _text(job, settings, collection)
    indexed = collection.passages * collection.passage_bytes if _weighted(job, settings) else text  # a repeated word is a number
    size = rates.INDEXED * indexed
    return Cost(size, rates.START + text * rates.INDEX / job.threads, scratch=size)  # merging into one segment: it is there twice


def _retrieve(job, settings, collection):
    hits = _asked(job, collection) * _hits(job, settings)
    search = _asked(job, collection) * rates.SEARCH / job.threads
    return Cost(rates.RUN_LINE * hits, rates.START + search + hits * rates.READ_LINE)


def _train(job, settings, collection):
    model, encoder, train = find(settings["models"], job.wildcards["model"]), _encoder_of(job, settings), settings["train"]
    size = encoder.weights + encoder.decoder * (model["settings"].get("formulation") == "paper")
    if not model["loss"]:
        return Cost(size, rates.START_TORCH)
    validations = min(train["max_validations"], rates.VALIDATIONS_TO_BEST + train["patience"])
    judged = collection.queries[validation_set(settings)] * train["validation_hits"]
    triples = validations * train["validate_every"]
    if job.gpus:
        seconds = triples * encoder.gpu_triple
    else:
        seconds = (triples * encoder.triple + validations * _distinct(judged, collection) * encoder.passage) / train["threads"]
    state = rates.TRAINING_STATE * size  # stays until the whole run has ended; a new one is written before the old one is removed
    return Cost(size + state, rates.START_TORCH + seconds, scratch=state)


def _encode(job, settings, collection):
    _, _, shards = job.wildcards["scatteritem"].partition("-of-")
    passages = collection.passages / int(shards)
    size = 4 * settings["encode"]["max_terms"] * passages
    return Cost(size, rates.START_TORCH + _passages(passages, job, settings) + size * rates.DISK)


def _prune(job, settings, collection):
    kept, encoded = (4 * terms * collection.passages for terms in (int(job.wildcards["keep"]), settings["encode"]["max_terms"]))
    return Cost(kept, rates.START + collection.passages * rates.PRUNE + (kept + encoded) * rates.DISK)


def _weigh(job, settings, collection):
    encoder, asked = _encoder_of(job, settings), _asked(job, collection)
    pace = encoder.gpu_query if job.gpus else encoder.query / settings["compute"]["threads"]
    return Cost(rates.QUERY_VECTOR * asked, rates.START_TORCH + asked * pace)


def _tune(job, settings, collection):
    tuned_on = find(settings["query_sets"], tuning_set(settings))
    pairs = collection.queries[tuned_on["id"]] * min(tuned_on["hits"], settings["tune"]["max_cutoff"])
    scored = _scored(pairs, settings, job.wildcards["model"], collection)
    return Cost(rates.SMALL, rates.START_TORCH + _passages(scored, job, settings))


def _rerank(job, settings, collection):
    row, asked = find(settings["rows"], job.wildcards["row"]), _asked(job, collection)
    lines = asked * _hits(job, settings)
    pairs = asked * min(_cutoff(row, settings), _hits(job, settings))
    seconds = rates.START + lines * (rates.READ_LINE + rates.WRITE_LINE)
    if not is_pruned(row):
        seconds += rates.START_TORCH + _passages(_scored(pairs, settings, row["model"], collection), job, settings, row["model"])
    else:
        seconds += pairs * (rates.LOAD_HITS + rates.SCORE_HITS)
    return Cost(rates.RERANKED_LINE * lines, seconds)


def _evaluate(job, settings, collection):
    asked = _asked(job, collection)
    return Cost(rates.QUERY_VALUES * asked, rates.START + asked * _hits(job, settings) * rates.EVALUATE_LINE)


def _significance(job, settings, collection):
    return Cost(rates.SMALL, rates.START + rates.COMPARISON * sum(len(family["pairs"]) for family in settings["comparisons"]))


def _latency(job, settings, collection):
    rows, timed = rows_timed(settings, job.wildcards["timed"]), settings["latency"]
    asked = timed["warm_up"] + timed["measured"]
    seconds = rates.START + len(rows) * (asked + timed["measured"]) * rates.TIMED_QUERY  # once more with nothing cached
    pairs = {}  # of the unpruned rows of a model, whose candidates' vectors are made once
    for row in rows:
        if row.get("keep") == "full":
            pairs[row["model"]] = pairs.get(row["model"], 0) + asked * (_cutoff(row, settings) + rates.CANDIDATES_BEYOND)
    passages = {model: _distinct(count, collection) for model, count in pairs.items()}
    dense = 2 * rates.VOCABULARY * sum(passages.values())  # float16 for every term, during the measurement
    seconds += sum(_passages(count, job, settings, model) for model, count in passages.items()) + dense * rates.DISK
    return Cost(rates.SMALL * len(rows), seconds, scratch=dense)


FORMULAS = {
    "fetch": _fetch, "data": _data, "queries": _queries, "triples": _triples, "encoder": _encoder, "expand": _expand,
    "index": _index, "retrieve": _retrieve, "train": _train, "encode": _encode, "prune": _prune, "weigh": _weigh,
    "tune": _tune, "rerank": _rerank, "evaluate": _evaluate, "significance": _significance, "latency": _latency,
}  # fmt: skip


def _asked(job, collection) -> int:
    return collection.queries[job.wildcards["query_set"]]


def _hits(job, settings) -> int:
    return find(settings["query_sets"], job.wildcards["query_set"])["hits"]


def _encoder_of(job, settings, name=None) -> rates.Encoder:
    encoder = find(settings["models"], name or job.wildcards["model"])["encoder"]
    return rates.encoder_named(encoder["source"]) if encoder else rates.MINILM


def _samples(job, settings) -> int:
    """Return the number of predicted queries for each passage; if they are joined, as many as doc2query publishes."""
    predicted = find(settings["first_stages"], job.wildcards["first_stage"])["predicted_queries"]
    return (predicted["samples"] or rates.JOINED_QUERIES) if predicted else 0


def _text(job, settings, collection) -> float:
    """Return the bytes of a first stage's passages, with the queries predicted for them, or with their words repeated."""
    if _weighted(job, settings):
        return collection.passages * rates.WEIGHTED
    return collection.passages * (collection.passage_bytes + rates.PREDICTION * _samples(job, settings))


def _weighted(job, settings) -> bool:
    return bool(find(settings["first_stages"], job.wildcards["first_stage"])["weighted_text"])


def _cutoff(row, settings) -> int:
    expanded = find(settings["first_stages"], row["first_stage"])["predicted_queries"]
    return min(rates.CUTOFF_EXPANDED if expanded else rates.CUTOFF, settings["tune"]["max_cutoff"])


def _passages(count: float, job, settings, name=None) -> float:
    """Return the seconds to run so many passages through a model."""
    encoder = _encoder_of(job, settings, name)
    return count * (encoder.gpu_passage if job.gpus else encoder.passage / settings["compute"]["threads"])


def _scored(pairs: float, settings, model: str, collection) -> float:
    """How often a model runs: once for each passage, or once for each pair where nothing is precomputed."""
    return _distinct(pairs, collection) if precomputes(settings, model) else pairs


def _distinct(pairs: float, collection) -> float:
    """Return the number of distinct passages among random candidates; real ones repeat more often."""
    return collection.passages * -math.expm1(-pairs / collection.passages)
