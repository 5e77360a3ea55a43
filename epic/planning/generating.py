"""The cost of generating queries: sizes and paces of sequence-to-sequence models, formulas of their two stages; estimates all.

A card is taken to do SHARE of the operations a second that it does in encoding: decoding reads all weights for each token. For
comparison: one query for each of MS MARCO's passages took T5-base 8 hours of a TPU (docTTTTTquery's repository).
"""

from typing import NamedTuple

from epic.experiment.generation import batch_of, compute_of, drawing_of, generator_named
from epic.planning import flop, rates
from epic.planning.amounts import Cost, share_of
from epic.planning.flop import Shape

SHARE = 0.25  # assumed
STEPS = (
    20  # of a batch, assumed: the 354 million queries that are published have 6.4 words on the mean, the longest of a batch more
)
USUAL = 128  # tokens: as epic.first_stage.generate has it, whose import would bring torch
FLOAT = 4  # bytes
LIBRARIES_MB = 1_500  # of Python with torch and transformers


class Seq2Seq(NamedTuple):
    """A model's number of weights, the shape of its encoder and decoder, and its pace on one thread of a CPU."""

    weights: int
    shape: Shape
    flops: float  # operations a second


T5_BASE = Seq2Seq(
    222_903_552, Shape(12, 768, 3072, 32_128), 48e9
)  # measured: 4.5 s a passage for 40 queries of 20 steps, random weights
T5_LARGE = Seq2Seq(737_668_096, Shape(24, 1024, 4096, 32_128), T5_BASE.flops)


def model_named(source: str) -> Seq2Seq:
    """Return a generator's sizes, by its name; an unknown one counts as T5-base."""
    return T5_LARGE if "large" in source.lower() else T5_BASE


def weights_of(source: str) -> float:
    """Return the bytes of a generator's weights, of which its own folder has as many again."""
    return FLOAT * model_named(source).weights


def converting_memory(settings: dict, generator: str) -> int:
    """Return the MB of memory of the job that copies a generator: a pickle is held twice while it is rewritten."""
    return LIBRARIES_MB + round(2 * weights_of(generator_named(settings, generator)["source"]) / 1e6)


def generating_memory(settings: dict, generator: str, samples: str) -> int:
    """Return the MB of memory of a shard: the weights, what the decoder's layers keep of passages and queries, and logits."""
    model, drawing = model_named(generator_named(settings, generator)["source"]), drawing_of(settings, generator, samples, "0")
    batch, shape = batch_of(settings, generator), model.shape
    of_a_token = 2 * shape.layers * shape.width * FLOAT  # keys and values
    tokens = max(batch * USUAL, drawing["max_input"]) + batch * drawing["max_output"]
    logits = 3 * batch * shape.vocabulary * FLOAT
    return LIBRARIES_MB + round((FLOAT * model.weights + int(samples) * (tokens * of_a_token + logits)) / 1e6)


def generator_cost(job, settings, given) -> Cost:
    """Estimate the copy of a generator."""
    size = weights_of(generator_named(settings, job.wildcards["generator"])["source"])
    return Cost(size, rates.START_TORCH + 2 * size * rates.DISK)


def generate_cost(job, settings, given) -> Cost:
    """Estimate a shard's queries; what is kept for an interruption stays until the whole run has ended."""
    passages, samples = share_of(job) * given.collection.passages, int(job.wildcards["samples"])
    model = model_named(generator_named(settings, job.wildcards["generator"])["source"])
    work = passages * (flop.reading(model.shape) + samples * flop.writing(model.shape, STEPS))
    compute = compute_of(settings, job.wildcards["generator"])
    speed = SHARE * given.speed.encoding(compute["precision"]) if job.gpus else model.flops * compute["threads"]
    size = passages * samples * rates.PREDICTION
    return Cost(2 * size, rates.START_TORCH + work / speed + 2 * size * rates.DISK)
