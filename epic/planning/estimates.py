"""The cost of a job, by a formula over its settings: bytes it writes, seconds it runs.

The numbers are in planning.rates, what a GPU does in planning.cards, and the layers of stores in planning.disk.
"""

from epic.corpus.folder import MADE
from epic.experiment.lookup import (
    encoder_named,
    find,
    is_pruned,
    is_replayed,
    keeps_stores,
    precomputes,
    systems,
    tuning_set,
    validation_set,
)
from epic.experiment.measurements import answering, queries_of, rows_timed
from epic.experiment.trained import max_cutoff, min_cutoff, train_of
from epic.planning import flop, rates, vocabulary, weighters
from epic.planning.amounts import (
    Collection,
    Cost,
    Given,
    Job,
    candidate_pairs,
    dense_bytes,
    distinct_passages,
    passages_encoded,
    reranked,
    share_of,
)
from epic.planning.cards import NO_CARD, Speed
from epic.planning.disk import ROW_SUM, TERM, bytes_of_a_vector, is_copied
from epic.planning.generating import generate_cost, generator_cost
from epic.planning.pairs import work_of


def cost(job: Job, settings: dict, collection: Collection, speed: Speed = NO_CARD) -> Cost:
    """Estimate one job; a rule without a formula writes little and ends quickly."""
    formula = FORMULAS.get(job.rule)
    return formula(job, settings, Given(collection, speed)) if formula else Cost(rates.SMALL, rates.START)


def _fetch(job, settings, given):
    (download,) = (download for download in settings["downloads"] if download["file"] == job.wildcards["file"])
    return Cost(0.0, rates.START + size_of_download(download) * rates.DISK)  # epic.planning.sources counts what is fetched


def size_of_download(download: dict) -> float:
    """Return the bytes of a published file, assumed if they are not published."""
    return download["bytes"] or rates.DOWNLOAD_OF_UNKNOWN_SIZE


def _data(job, settings, given):
    repair = 0 if settings["data"]["documents"].startswith(("path:", MADE)) else rates.REPAIR
    return Cost(rates.SMALL, rates.START + given.collection.passages * (repair + rates.STORE))


def _queries(job, settings, given):
    return Cost(rates.QUERY * _asked(job, given), rates.START)


def _triples(job, settings, given):
    count = int(job.wildcards["first"])
    return Cost(rates.TRIPLE * count, rates.START + rates.DOCPAIR * count)


def _encoder(job, settings, given):
    source = encoder_named(settings, job.wildcards["encoder"])["source"]
    return Cost(rates.encoder_named(source).weights, rates.START)


def _expand(job, settings, given):
    text = _text(job, settings, given)
    reading = rates.READ + rates.PREDICTED * _samples(job, settings)
    size = text + rates.JSON_LINE * given.collection.passages
    return Cost(size, rates.START + given.collection.passages * reading, temporary=size)  # only index reads it


def _index(job, settings, given):
    text = _text(job, settings, given)
    indexed = (
        given.collection.passages * given.collection.passage_bytes if _weighted(job, settings) else text
    )  # a repeated word is a number
    size = rates.INDEXED * indexed
    return Cost(size, rates.START + text * rates.INDEX / job.threads, scratch=size)  # merging into one segment: it is there twice


def _retrieve(job, settings, given):
    hits = _asked(job, given) * _hits(job, settings)
    search = 0.0 if is_replayed(settings, job.wildcards["first_stage"]) else _asked(job, given) * rates.SEARCH / job.threads
    return Cost(rates.RUN_LINE * hits, rates.START + search + hits * rates.READ_LINE)


def _train(job, settings, given):
    model, encoder = find(settings["models"], job.wildcards["model"]), _encoder_of(job, settings)
    train, scored = train_of(settings, model["id"]), work_of(model)
    size = scored.weights if scored else encoder.weights + encoder.decoder * (model["settings"].get("formulation") == "paper")
    if not model["loss"]:
        return Cost(size, rates.START_TORCH)
    validations = min(train["max_validations"], rates.VALIDATIONS_TO_BEST + train["patience"])
    members = model["settings"].get("members", 1)  # each is trained and validated by itself
    pairs = members * validations * given.collection.queries[validation_set(settings)] * train["validation_hits"]
    triples = members * validations * train["validate_every"]
    if scored and job.gpus:
        seconds = (triples * scored.triple + pairs * scored.pair) / (scored.share * given.speed.training(train["precision"]))
    elif scored:
        seconds = (triples * scored.triple_seconds + pairs * scored.pair_seconds) / train["threads"]
    elif job.gpus:
        judged = distinct_passages(pairs / validations, given)
        work = triples * flop.triple(encoder.shape) + validations * judged * flop.body(encoder.shape, flop.PASSAGE)
        seconds = work / given.speed.training(train["precision"])
    else:
        judged = distinct_passages(pairs / validations, given)
        seconds = (triples * encoder.triple + validations * judged * encoder.passage) / train["threads"]
    state = rates.TRAINING_STATE * size  # stays until the whole run has ended; a new one is written before the old one is removed
    return Cost(size + state, rates.START_TORCH + seconds, scratch=state)


def _tokenise(job, settings, given):
    passages = share_of(job) * passages_encoded(settings, given)
    size = (2 * given.collection.pieces + rates.BOUND) * passages
    seconds = rates.START + passages * (rates.READ + rates.TOKENISE / max(1, job.threads)) + size * rates.DISK
    return Cost(size, seconds)


def _candidates(job, settings, given):
    pairs = candidate_pairs(settings, given, systems(settings)[job.wildcards["model"]])
    return Cost(rates.PAIR * pairs, rates.START + pairs * (rates.READ_LINE + rates.WRITE_LINE))


def _positions(job, settings, given):
    pairs = candidate_pairs(settings, given, reranked(settings))
    return Cost(rates.POSITION * passages_encoded(settings, given), rates.START + pairs * rates.READ_LINE)


def _encode(job, settings, given):
    share, model = share_of(job), job.wildcards["model"]
    passages = share * passages_encoded(settings, given)
    size, scores = bytes_of_a_vector(settings) * passages, 0.0
    if any("/candidates" in path for path in job.inputs):  # their unpruned scores come from the same pass
        scores = share * rates.PAIR_SCORE * candidate_pairs(settings, given, systems(settings).get(model, []))
        size += scores + share * dense_bytes(settings, given, model)
    seconds = rates.START_TORCH + _passages(passages, job, settings, given) + size * rates.DISK
    return Cost(size, seconds, temporary=0.0 if keeps_stores(settings) else size - scores)


def _prune(job, settings, given):
    if not is_copied(settings, int(job.wildcards["keep"])):
        return Cost(rates.SMALL, rates.START)
    passages = passages_encoded(settings, given)
    keep = min(int(job.wildcards["keep"]), rates.VOCABULARY)
    kept, encoded = (TERM * keep + ROW_SUM) * passages, bytes_of_a_vector(settings, keep) * passages
    temporary = 0.0 if keeps_stores(settings) else kept
    return Cost(kept, rates.START + passages * rates.PRUNE + (kept + encoded) * rates.DISK, temporary=temporary)


def _weigh(job, settings, given):
    encoder, asked = _encoder_of(job, settings), _asked(job, given)
    compute = settings["compute"]
    pace = given.speed.query(compute["precision"]) if job.gpus else encoder.query / compute["threads"]
    return Cost(rates.QUERY_VECTOR * asked, rates.START_TORCH + asked * pace)


def _tune(job, settings, given):
    tuned_on, model = find(settings["query_sets"], tuning_set(settings)), job.wildcards["model"]
    pairs = given.collection.queries[tuned_on["id"]] * min(tuned_on["hits"], max_cutoff(settings, model))
    return Cost(rates.SMALL, _unpruned(pairs, job, settings, given, model))


def _rerank(job, settings, given):
    row, asked = find(settings["rows"], job.wildcards["row"]), _asked(job, given)
    lines = asked * _hits(job, settings)
    pairs = asked * min(_cutoff(row, settings), _hits(job, settings))
    seconds = rates.START + lines * (rates.READ_LINE + rates.WRITE_LINE)
    if is_pruned(row):
        seconds += pairs * (rates.LOAD_HITS + rates.SCORE_HITS)
    else:
        seconds += _unpruned(pairs, job, settings, given, row["model"])
    return Cost(rates.RERANKED_LINE * lines, seconds)


def _unpruned(pairs, job, settings, given, model) -> float:
    """Return the seconds for unpruned scores: read, if encoding has written them; else the model runs over the candidates."""
    if _was_scored(job, model):
        return rates.START + pairs * rates.READ_LINE
    if precomputes(settings, model):
        return rates.START_TORCH + _passages(distinct_passages(pairs, given), job, settings, given, model, flop.body)
    return rates.START_TORCH + _pairs(pairs, job, settings, given, model)


def _was_scored(job, model: str) -> bool:
    """Tell whether a job reads what encoding wrote of the candidates."""
    return any(path.endswith(f"/candidates/{model}") for path in job.inputs)


def _evaluate(job, settings, given):
    asked = _asked(job, given)
    return Cost(rates.QUERY_VALUES * asked, rates.START + asked * _hits(job, settings) * rates.EVALUATE_LINE)


def _significance(job, settings, given):
    return Cost(rates.SMALL, rates.START + rates.COMPARISON * sum(len(family["pairs"]) for family in settings["comparisons"]))


def _latency(job, settings, given):
    rows = rows_timed(settings, job.wildcards["timed"])
    seconds = rates.START + sum(_timed_row(row, job, settings, given) for row in rows)
    pairs = {}  # of the unpruned rows of a model, whose candidates' vectors lie together while they are timed
    for row in rows:
        if row.get("keep") == "full":
            asked = sum(queries_of(settings, row).values())
            pairs[row["model"]] = pairs.get(row["model"], 0) + asked * (_cutoff(row, settings) + rates.CANDIDATES_BEYOND)
    passages = {model: distinct_passages(count, given) for model, count in pairs.items()}
    dense = 2 * rates.VOCABULARY * sum(passages.values())  # float16 for every term, during the measurement
    made = {model: count for model, count in passages.items() if not _was_scored(job, model)}  # others are copied from encoding
    seconds += sum(_passages(count, job, settings, given, model) for model, count in made.items()) + dense * rates.DISK
    return Cost(rates.SMALL * len(rows), seconds, scratch=dense)


def _timed_row(row, job, settings, given) -> float:
    """Return the seconds of a row's timed queries: a query as in the paper's slowest row, or the model over all its hits."""
    counts, system = queries_of(settings, row), answering(row)
    queries = counts["warm_up"] + 2 * counts["measured"]  # once more with nothing cached
    if "model" not in system or precomputes(settings, system["model"]):
        return queries * rates.TIMED_QUERY
    hits = system.get("hits") or _cutoff(row, settings)
    return queries * (rates.TIMED_QUERY + _pairs(hits, job, settings, given, system["model"]))


FORMULAS = {
    "fetch": _fetch, "data": _data, "queries": _queries, "triples": _triples, "encoder": _encoder, "expand": _expand,
    "index": _index, "retrieve": _retrieve, "train": _train, "recall": weighters.recall,
    "regress": weighters.regress, "reweigh": weighters.reweigh, "tokenise": _tokenise, "passages": _positions,
    "candidates": _candidates, "encode": _encode, "prune": _prune, "weigh": _weigh,
    "tune": _tune, "rerank": _rerank, "evaluate": _evaluate, "significance": _significance, "latency": _latency,
    "generator": generator_cost, "generate": generate_cost,
    "vocabulary": vocabulary.cost,
}  # fmt: skip


def _asked(job, given) -> int:
    return given.collection.queries[job.wildcards["query_set"]]


def _hits(job, settings) -> int:
    return find(settings["query_sets"], job.wildcards["query_set"])["hits"]


def _encoder_of(job, settings, name=None) -> rates.Encoder:
    encoder = find(settings["models"], name or job.wildcards["model"])["encoder"]
    return rates.encoder_named(encoder["source"]) if encoder else rates.MINILM


def _samples(job, settings) -> int:
    """Return the number of predicted queries for each passage; if they are joined, as many as doc2query publishes."""
    predicted = find(settings["first_stages"], job.wildcards["first_stage"])["predicted_queries"]
    return (predicted["samples"] or rates.JOINED_QUERIES) if predicted else 0


def _text(job, settings, given) -> float:
    """Return the bytes of a first stage's passages, with the queries predicted for them, or with their words repeated."""
    if _weighted(job, settings):
        return given.collection.passages * rates.WEIGHTED
    return given.collection.passages * (given.collection.passage_bytes + rates.PREDICTION * _samples(job, settings))


def _weighted(job, settings) -> bool:
    return bool(find(settings["first_stages"], job.wildcards["first_stage"])["weighted_text"])


def _cutoff(row, settings) -> int:
    expanded = find(settings["first_stages"], row["first_stage"])["predicted_queries"]
    usual = max(rates.CUTOFF_EXPANDED if expanded else rates.CUTOFF, min_cutoff(settings, row["model"]))
    return min(usual, max_cutoff(settings, row["model"]))


def _pairs(count: float, job, settings, given, name: str) -> float:
    """Return the seconds in which a model scores so many pairs of a query and a passage."""
    work, compute = work_of(find(settings["models"], name)), settings["compute"]
    if job.gpus:
        return count * work.pair / (work.share * given.speed.encoding(compute["precision"]))
    return count * work.pair_seconds / compute["threads"]


def _passages(count: float, job, settings, given, name=None, work=flop.passage) -> float:
    """Return the seconds to run so many passages through a model; work: operations of one, by shape and word-pieces."""
    encoder, compute = _encoder_of(job, settings, name), settings["compute"]
    pieces = given.collection.pieces
    if job.gpus:
        return count * work(encoder.shape, pieces + 2) / given.speed.encoding(compute["precision"])
    return count * encoder.passage * pieces / flop.WORD_PIECES / compute["threads"]
