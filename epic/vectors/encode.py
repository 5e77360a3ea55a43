"""Passage vectors: every vocabulary entry's weight for every passage of a shard, the largest kept.

psi is never built for all word-pieces and the whole vocabulary at once: `epic.phi` takes the vocabulary in blocks.
"""

import logging
import re
from time import perf_counter

import numpy as np
import torch

from epic.batches import by_tokens
from epic.compute import give_back_memory
from epic.config import EncodeSettings
from epic.documents import Documents
from epic.files import InputError, whole, write_json
from epic.frequencies import Counter
from epic.lengths import Lengths
from epic.log import progress
from epic.model import Epic
from epic.pace import pace
from epic.phi import document_vectors
from epic.select import take, top_terms
from epic.store import StoreWriter
from epic.vectors import finite

log = logging.getLogger(__name__)
PASSAGES_AT_A_TIME = 1024  # sorted by length among themselves, written in document order


def parse_shard(name: str) -> tuple[int, int]:
    """`3-of-64` as (3, 64)."""
    match = re.fullmatch(r"(\d+)-of-(\d+)", name)
    if not match:
        raise InputError(f"{name} is not a shard; expected something like 3-of-64")
    return int(match[1]), int(match[2])


def shard_bounds(total: int, shard: int, shards: int) -> range:
    """Positions of shard `shard` (1-based) of `shards`; together they tile 0..total."""
    if not 1 <= shard <= shards:
        raise InputError(f"shard {shard} is not within 1..{shards}")
    return range(total * (shard - 1) // shards, total * shard // shards)


def encode_shard(model: Epic, digest: str, documents: Documents, shard: str, settings: EncodeSettings, out) -> float:
    """Write the vectors of one shard, the counts of all their values and of the texts' lengths; return the seconds it took.

    There are as many vectors as documents.
    """
    positions, began = shard_bounds(len(documents), *parse_shard(shard)), perf_counter()
    counter, lengths = Counter(), {"word_pieces": Lengths(), "terms": Lengths()}
    with whole(out) as draft, progress(total=len(positions), desc=f"encode {shard}", unit="passage") as bar:
        writer = StoreWriter(draft, settings.max_terms, model.vocabulary, digest, start=positions.start)
        for start in range(positions.start, positions.stop, PASSAGES_AT_A_TIME):
            texts = dict(documents.span(range(start, min(start + PASSAGES_AT_A_TIME, positions.stop))))
            pieces = dict(zip(texts, model.pieces(texts.values()), strict=True))
            writer.add(list(texts), *pruned_vectors(model, pieces, writer.keep, settings, counter, bar))
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


def pruned_vectors(model: Epic, pieces: dict[str, list[int]], keep: int, settings: EncodeSettings, counter: Counter, bar):
    """Terms and weights (n, keep) of some passages in their order; all values are counted before they are pruned."""
    terms = np.empty((len(pieces), keep), dtype=np.uint16)  # (n, keep)
    weights = np.empty((len(pieces), keep), dtype=np.float16)  # (n, keep)
    for rows, vectors in vectors_by_batch(model, pieces, settings.token_budget, settings.vocabulary_block):
        counter.add(vectors)
        terms[rows] = chosen = top_terms(vectors, keep)  # (b, keep)
        weights[rows] = take(vectors, chosen)  # (b, keep)
        bar.update(len(rows))
    return terms, weights


def vectors_by_batch(model: Epic, pieces: dict[str, list[int]], token_budget: int, block: int):
    """Yield (places in `pieces`, unpruned float16 vectors), batch by batch, longest passages first."""
    place = {doc_id: row for row, doc_id in enumerate(pieces)}
    for batch in by_tokens(pieces, token_budget, model.body.window):
        found = _vectors_of(model, {doc_id: pieces[doc_id] for doc_id in batch}, block)  # (b, V)
        for doc_id, vector in zip(batch, found, strict=True):
            finite(doc_id, vector)
        yield [place[doc_id] for doc_id in batch], found


def _vectors_of(model: Epic, pieces: dict[str, list[int]], block: int) -> np.ndarray:
    """Vectors of a batch; what fails is named, the one passage where it fails alone."""
    try:
        return document_vectors(model, list(pieces.values()), block)
    except (RuntimeError, MemoryError, IndexError) as error:
        if len(pieces) > 1 and (model.device == "cpu" or isinstance(error, torch.OutOfMemoryError)):
            for doc_id, ids in pieces.items():  # after another error a GPU fails at everything
                _vectors_of(model, {doc_id: ids}, block)
        named, longest = ", ".join(map(str, list(pieces)[:3])), max(map(len, pieces.values()))
        raise InputError(
            f"encoding failed at document {named}{' ...' if len(pieces) > 3 else ''} ({len(pieces)} at a time, the longest of "
            f"{longest} word-pieces): {str(error)[:300]}; if memory ran out, lower encode.token_budget"
        ) from error
