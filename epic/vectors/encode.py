"""Passage vectors: every vocabulary entry's weight for every passage of a shard, the largest kept.

psi is never built for all word-pieces and the whole vocabulary at once: `epic.vectors.phi` takes the vocabulary in blocks.
"""

import logging
import re
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from torch import Tensor

from epic.core.files import InputError, replacing, write_json
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.corpus.lengths import Lengths
from epic.experiment.settings import EncodeSettings
from epic.model.device import give_back_memory
from epic.model.epic import EpicModel
from epic.vectors import device_topk
from epic.vectors.batches import Budget, longest_passages
from epic.vectors.phi import reduced_by_batch
from epic.vectors.store_writer import StoreWriter
from epic.vectors.throughput import pace
from epic.vectors.topk import take, top_terms
from epic.vectors.value_counts import Counter, counts_of

log = logging.getLogger(__name__)
PASSAGES_AT_A_TIME = 16_384  # sorted by length among themselves, written in document order


def parse_shard(name: str) -> tuple[int, int]:
    """Parse `3-of-64` as (3, 64)."""
    match = re.fullmatch(r"(\d+)-of-(\d+)", name)
    if not match:
        raise InputError(f"{name} is not a shard; expected something like 3-of-64")
    return int(match[1]), int(match[2])


def shard_bounds(total: int, shard: int, shards: int) -> range:
    """Return the positions of shard `shard` (1-based) of `shards`; together they tile 0..total."""
    if not 1 <= shard <= shards:
        raise InputError(f"shard {shard} is not within 1..{shards}")
    return range(total * (shard - 1) // shards, total * shard // shards)


def encode_shard(model: EpicModel, digest: str, documents: Documents, shard: str, settings: EncodeSettings, out) -> float:
    """Write the vectors of one shard, and the counts of all their values and of the texts' lengths; return the seconds.

    There are as many vectors as documents.
    """
    positions, began = shard_bounds(len(documents), *parse_shard(shard)), perf_counter()
    counter, budget, lengths = Counter(), Budget(settings.token_budget), {"word_pieces": Lengths(), "terms": Lengths()}
    with replacing(out) as draft, progress(total=len(positions), desc=f"encode {shard}", unit="passage") as bar:
        writer = StoreWriter(draft, settings.keep, model.vocabulary, digest, start=positions.start)
        for start in range(positions.start, positions.stop, PASSAGES_AT_A_TIME):
            texts = dict(documents.span(range(start, min(start + PASSAGES_AT_A_TIME, positions.stop))))
            pieces = dict(zip(texts, model.pieces(texts.values()), strict=True))
            longest = longest_passages(model, documents, texts)
            found = pruned_vectors(model, pieces, writer.keep, budget, settings.vocabulary_block, counter, bar, longest)
            writer.add(list(texts), *found)
            lengths["word_pieces"].add(map(len, pieces.values()))
            lengths["terms"].add(len(text.split()) for text in texts.values())
            give_back_memory()
            log.info("shard %s: %s", shard, pace(start + len(texts) - positions.start, len(positions), perf_counter() - began))
        seconds = perf_counter() - began
        tenths = counter.tenths()
        write_json(draft / "frequencies.json", {str(tenth): tenths[tenth] for tenth in sorted(tenths)})
        write_json(draft / "lengths.json", {kind: vars(found) for kind, found in lengths.items()})
        written = writer.close("frequencies.json", "lengths.json")
        if written != len(positions):
            raise RuntimeError(f"shard {shard}: {written} vectors for {len(positions)} documents")
    log.info("shard %s: %d vectors", shard, written)
    return seconds


def pruned_vectors(
    model: EpicModel, pieces: dict[str, list[int]], keep: int, budget: Budget, block: int, counter: Counter, bar, longest=None
):
    """Return terms and weights (n, keep) of some passages in their order; count all values before they are pruned."""
    terms = np.empty((len(pieces), keep), dtype=np.uint16)  # (n, keep)
    weights = np.empty((len(pieces), keep), dtype=np.float16)  # (n, keep)
    selected = partial(_selected if model.device == "cpu" else _selected_on_device, keep=keep)
    for rows, found in reduced_by_batch(model, pieces, budget, block, longest, selected):
        terms[rows], weights[rows] = found.terms, found.weights
        counter.add_counts(found.counts)
        bar.update(len(rows))
    return terms, weights


class Selected(NamedTuple):
    """What is kept of a batch of vectors."""

    terms: np.ndarray  # (b, keep)
    weights: np.ndarray  # (b, keep)
    counts: np.ndarray  # (65536,) of all values, by their bits


def _selected(vectors: Tensor, keep: int) -> Selected:
    """Select by compiled code."""
    values = vectors.numpy()
    terms = top_terms(values, keep)  # (b, keep)
    return Selected(terms, take(values, terms), counts_of(values))


def _selected_on_device(vectors: Tensor, keep: int) -> Selected:
    """Select where the vectors lie, so that only what is kept is copied."""
    terms, counts = device_topk.top_terms(vectors, keep), device_topk.counts(vectors)  # (b, keep), (65536,)
    weights = vectors.gather(1, terms)  # (b, keep)
    return Selected(terms.cpu().numpy().astype(np.uint16), weights.cpu().numpy(), counts.cpu().numpy())
