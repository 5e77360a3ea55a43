"""The cost of a weighter's jobs: labels, training, and the weighting of all passages. The rest is in planning.estimates."""

from epic.experiment.weighting import weighter_named
from epic.planning import flop, rates
from epic.planning.amounts import Cost, share_of

RELEVANT = 532_761 / 808_731  # relevant passages of a training query of MS MARCO: judgments by queries, some of them without
LABELS = 60  # bytes of a passage's labels: measured 47 with one query; some have more
LABEL = 0.2e-3  # seconds a passage: words, stems and a line, measured, with the start of Java
REGRESSED, REWEIGHED = 1 / 16.2, 1 / 108  # seconds a passage and thread, MiniLM, 74 word-pieces (docs/deepct.md)
MEASURED_PIECES = 74


def recall(job, settings, given) -> Cost:
    """Estimate the job that writes labels."""
    passages = _labelled(job, settings, given)
    return Cost(LABELS * passages, rates.START + passages * (rates.READ + LABEL))


def regress(job, settings, given) -> Cost:
    """Estimate training; a weighter that comes as it is costs its copy."""
    weighter, encoder = _weighter(job, settings)
    if not weighter["train"]:
        return Cost(encoder.weights, rates.START_TORCH)
    train, state = weighter["train"], rates.TRAINING_STATE * encoder.weights
    passages = train["epochs"] * _labelled(job, settings, given)
    if job.gpus:
        work = flop.BACKWARD * flop.body(encoder.shape, _pieces(weighter))
        seconds = passages * work / given.speed.training(train["precision"])
    else:
        seconds = passages * _pace(REGRESSED, weighter, encoder) / train["threads"]
    return Cost(encoder.weights + state, rates.START_TORCH + seconds, scratch=state)


def reweigh(job, settings, given) -> Cost:
    """Estimate the weighting of a shard's passages."""
    (weighter, encoder), compute = _weighter(job, settings), settings["compute"]
    passages = share_of(job) * given.collection.passages
    size = passages * (rates.WEIGHTED + rates.JSON_LINE)
    if job.gpus:
        work = flop.body(encoder.shape, _pieces(weighter))
        seconds = passages * work / given.speed.encoding(compute["precision"])
    else:
        seconds = passages * _pace(REWEIGHED, weighter, encoder) / compute["threads"]
    return Cost(size, rates.START_TORCH + seconds + size * rates.DISK)


def _weighter(job, settings) -> tuple[dict, rates.Encoder]:
    weighter = weighter_named(settings, job.wildcards["weighter"])
    return weighter, rates.encoder_named(weighter["encoder"]["source"])


def _labelled(job, settings, given) -> float:
    """Return the passages that are relevant to a query of a weighter's labels."""
    weighter, _ = _weighter(job, settings)
    return given.collection.queries[weighter["train"]["query_set"]] * RELEVANT


def _pieces(weighter: dict) -> float:
    """Return the positions of a passage of MS MARCO, those that are cut apart."""
    return min(flop.PASSAGE, weighter["max_pieces"])


def _pace(measured: float, weighter: dict, encoder: rates.Encoder) -> float:
    """Return the seconds of a passage on one thread, from MiniLM's: other encoders as they are slower at EPIC's passages."""
    return measured * _pieces(weighter) / MEASURED_PIECES * encoder.passage / rates.MINILM.passage
