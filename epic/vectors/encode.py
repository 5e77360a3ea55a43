"""Passage vectors: every vocabulary entry's weight for every passage of a shard, the largest kept.

psi is never built for all word-pieces and the whole vocabulary at once: `epic.vectors.phi` takes the vocabulary in blocks.
While a card computes, the next passages are read and the last ones written by other threads.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from torch import Tensor

from epic.core.files import replacing, write_json
from epic.core.log import progress
from epic.experiment.settings import EncodeSettings
from epic.model.device import give_back_memory
from epic.model.epic import EpicModel
from epic.vectors import device_topk
from epic.vectors.asked import Answers, Asked
from epic.vectors.batches import Budget
from epic.vectors.candidates import Candidates
from epic.vectors.phi import reduced_by_batch
from epic.vectors.store_writer import StoreWriter
from epic.vectors.throughput import pace
from epic.vectors.tokenise import Passages, Spoken, Tokenised
from epic.vectors.topk import take, top_terms
from epic.vectors.value_counts import Counter, counts_of

log = logging.getLogger(__name__)
PASSAGES_AT_A_TIME = 16_384  # sorted by length among themselves, so that a card pads little; written in document order
ON_CPU = 1_024  # where nothing is padded, and memory is the program's own


def encode_shard(
    model: EpicModel,
    digest: str,
    shard: Spoken | Tokenised,
    settings: EncodeSettings,
    out,
    candidates: Candidates | None = None,
) -> float:
    """Write the vectors of one shard, the counts of all their values, and the scores of its candidates; return the seconds.

    There are as many vectors as passages.
    """
    counter, budget, began = Counter(), Budget(settings.token_budget), perf_counter()
    with replacing(out) as draft, progress(total=len(shard), desc=f"encode {shard.name}", unit="passage") as bar:
        writer = StoreWriter(draft, settings.keep, model.vocabulary, digest, start=shard.start)
        asked = Asked(candidates, shard.start, len(shard), draft) if candidates else None
        with ThreadPoolExecutor(1) as behind:
            writing = behind.submit(lambda: None)
            for start, some in read_ahead(shard, ON_CPU if model.device == "cpu" else PASSAGES_AT_A_TIME):
                found = pruned_vectors(model, some, writer.keep, budget, settings.vocabulary_block, counter, bar, asked, start)
                writing.result()  # an error of the thread is raised here
                writing = behind.submit(writer.add, some.doc_ids, *found)
                done = start + len(some.doc_ids)
                log.info("shard %s: %s", shard.name, pace(done, len(shard), perf_counter() - began))
            writing.result()
        give_back_memory()
        seconds = perf_counter() - began
        tenths = counter.tenths()
        write_json(draft / "frequencies.json", {str(tenth): tenths[tenth] for tenth in sorted(tenths)})
        written = writer.close("frequencies.json", *(asked.close() if asked else ()))
        if written != len(shard):
            raise RuntimeError(f"shard {shard.name}: {written} vectors for {len(shard)} passages")
    log.info("shard %s: %d vectors", shard.name, written)
    return seconds


def read_ahead(shard: Spoken | Tokenised, size: int) -> Iterator[tuple[int, Passages]]:
    """Yield (first row, passages), `size` at a time; the next ones are read by another thread meanwhile."""
    rows = [range(start, min(start + size, len(shard))) for start in range(0, len(shard), size)]
    with ThreadPoolExecutor(1) as ahead:
        reading = [ahead.submit(shard.read, part) for part in rows[:1]]
        for number, part in enumerate(rows, start=1):
            found = reading.pop().result()
            reading = [ahead.submit(shard.read, following) for following in rows[number : number + 1]]
            yield part.start, found


def pruned_vectors(
    model: EpicModel,
    some: Passages,
    keep: int,
    budget: Budget,
    block: int,
    counter: Counter,
    bar,
    asked: Asked | None = None,
    start: int = 0,
):
    """Return terms and weights (n, keep) of some passages in their order; count all values before they are pruned.

    asked: what these passages, from the row `start` of their shard on, are asked for.
    """
    terms = np.empty((len(some.doc_ids), keep), dtype=np.uint16)  # (n, keep)
    weights = np.empty((len(some.doc_ids), keep), dtype=np.float16)  # (n, keep)
    pieces = dict(zip(some.doc_ids, some.pieces, strict=True))
    longest = some.longest and dict(zip(some.doc_ids, some.longest, strict=True))
    reduce = partial(_reduced, _selected if model.device == "cpu" else _selected_on_device, keep, asked, start)
    for rows, (found, answers) in reduced_by_batch(model, pieces, budget, block, longest, reduce):
        found = found.fetched()
        terms[rows], weights[rows] = found.terms, found.weights
        counter.add_counts(found.counts)
        if answers:
            asked.keep(answers)
        bar.update(len(rows))
    return terms, weights


def _reduced(
    select: Callable, keep: int, asked: Asked | None, start: int, vectors: Tensor, rows: list[int]
) -> tuple["Selected", Answers | None]:
    """Return what is kept of a batch of vectors, and what it answers; on a card nothing of it is waited for."""
    return select(vectors, keep), asked and asked.of(start + np.array(rows), vectors)


class Selected(NamedTuple):
    """What is kept of a batch of vectors: arrays, or a card's tensors."""

    terms: np.ndarray | Tensor  # (b, keep)
    weights: np.ndarray | Tensor  # (b, keep)
    counts: np.ndarray | Tensor  # (65536,) of all values, by their bits

    def fetched(self) -> "Selected":
        """Return the same as arrays."""
        if isinstance(self.terms, np.ndarray):
            return self
        terms, weights, counts = (tensor.cpu().numpy() for tensor in self)
        return Selected(terms.view(np.uint16), weights, counts)


def _selected(vectors: Tensor, keep: int) -> Selected:
    """Select by compiled code."""
    values = vectors.numpy()
    terms = top_terms(values, keep)  # (b, keep)
    return Selected(terms, take(values, terms), counts_of(values))


def _selected_on_device(vectors: Tensor, keep: int) -> Selected:
    """Select where the vectors lie, so that only what is kept is copied."""
    terms, counts = device_topk.top_terms(vectors, keep), device_topk.counts(vectors)  # (b, keep), (65536,)
    weights = vectors.gather(1, terms)  # (b, keep)
    return Selected(terms.short(), weights, counts)  # 16 bits of each term: torch copies no uint16 everywhere
