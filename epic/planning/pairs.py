"""The work of rankers that score pairs of a query and a passage: operations on a card, seconds on a CPU, bytes of their weights.

Paces are of docs/families/, measured on one thread of an AMD EPYC. On a card BERT's pairs are taken to reach what its passages
do, the narrow layers of TK a tenth of that, those of Duet a quarter: assumed, none of them has run on one. Duet's notebook trains
a member in 37 minutes, on a card that it does not name; a quarter of what EPIC's authors reach on theirs would be 68.
"""

from typing import NamedTuple

from epic.planning import flop, rates

NARROW, WIDER = 0.1, 0.25  # of the operations a second that an encoder reaches on a card: TK, Duet; assumed
WORDS, QUERY_WORDS, KERNELS = 60, 7, 11  # of a passage and of a query of MS MARCO, more or less; TK's kernels
WORDS_OF_A_COLLECTION, OF_A_LIST = 400_000, 71_486  # assumed, where an experiment sets no limit; the list that Duet has
FLOAT = 4  # bytes


class Work(NamedTuple):
    """The work of one pair and of one triple of a training step; and what share of an encoder's pace a card reaches in it."""

    pair: float  # operations
    triple: float
    pair_seconds: float  # on one thread of a CPU
    triple_seconds: float
    weights: float  # bytes of a checkpoint
    share: float = 1.0


def work_of(model: dict) -> Work | None:
    """Return the work of a model that scores pairs; None for EPIC, whose passages are encoded."""
    kind = {"tk": _tk, "duet": _duet, "epic": lambda model: None}.get(model["family"], _cross_encoder)
    return kind(model)


def _cross_encoder(model: dict) -> Work:
    """BERT over query and passage together; a family of one's own counts as one."""
    encoder = rates.encoder_named(model["encoder"]["source"]) if model["encoder"] else rates.MINILM
    pair = flop.body(encoder.shape, flop.QUERY + flop.PASSAGE + 1)
    slower = pair / flop.body(rates.MINILM.shape, flop.QUERY + flop.PASSAGE + 1)
    return Work(pair, flop.BACKWARD * 2 * pair, 10.9e-3 * slower, 0.125 * slower, encoder.weights)


def _tk(model: dict) -> Work:
    size = model["settings"]
    layers, width = size["layers"], size["dimensions"]
    weights = 2 * width * size["feed_forward"] + 4 * width * size["projection"]  # of a layer
    context = layers * (2 * WORDS * weights + 4 * WORDS**2 * size["projection"])
    pair = context + QUERY_WORDS * WORDS * (2 * width + 6 * KERNELS)
    words = _words(size["words"])
    pace = (0.13 + 0.30 * layers) * 1e-3, (1.2 + 2.1 * layers) * 1e-3  # 0.43 and 1.03 ms a pair, 305 and 133 triples a second
    return Work(pair, flop.BACKWARD * 2 * pair, *pace, FLOAT * width * words, NARROW)


def _duet(model: dict) -> Work:
    """All members score a pair, one of them learns from a triple; passages are padded to their longest."""
    size = model["settings"]
    hidden, passage, query = size["hidden"], size["passage_words"], size["query_words"]
    pools = passage - size["window"] + 1 - size["pool"] + 1
    local = 2 * hidden * query * (passage + hidden)
    distributed = 2 * hidden * (size["window"] * size["dimensions"] * passage + 2 * hidden * pools)
    published = 1.5e8  # operations of a pair at the published sizes, which were measured: 0.74 ms a pair, 145 triples a second
    slower = (local + distributed) / published
    words = _words(size["words"])
    weights = size["members"] * (words * size["dimensions"] + hidden * hidden * (query + pools + 10))
    pair = size["members"] * (local + distributed)
    triple = flop.BACKWARD * 2 * (local + distributed)
    return Work(pair, triple, 0.74e-3 * slower * size["members"], slower / 145, FLOAT * weights, WIDER)


def _words(said: dict) -> int:
    """Return the number of words of a vocabulary, by the settings for it."""
    return said["most"] or (OF_A_LIST if said["vocabulary"] else WORDS_OF_A_COLLECTION)
