"""Passage vectors: every vocabulary entry's weight for every passage of a shard, the largest kept.

psi is never built for all word-pieces and the whole vocabulary at once: the vocabulary passes in blocks, and each
block is reduced to a maximum per passage straight away.
"""

import logging
import re

import numpy as np
import torch

from epic.batches import by_tokens
from epic.config import EncodeSettings
from epic.data import Documents
from epic.equations import strongest
from epic.files import InputError, whole, write_json
from epic.frequencies import Counter
from epic.log import progress
from epic.model import Epic
from epic.select import top_terms
from epic.store import StoreWriter, finite

log = logging.getLogger(__name__)
PASSAGES_AT_A_TIME = 512  # sorted by length among themselves, written in document order


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


def encode_shard(model: Epic, digest: str, documents: Documents, shard: str, settings: EncodeSettings, out) -> None:
    """Write the vectors of one shard, and the counts of all their values; as many vectors as documents."""
    positions = shard_bounds(len(documents), *parse_shard(shard))
    counter = Counter()
    with whole(out) as draft:
        writer = StoreWriter(draft, settings.max_terms, model.vocabulary, digest, start=positions.start)
        for doc_ids, vectors in _vectors(model, documents, positions, settings):
            counter.add(vectors)
            terms = np.stack([top_terms(vector, writer.keep) for vector in vectors])  # (n, keep)
            writer.add(doc_ids, terms, np.take_along_axis(vectors, terms, axis=1))
        written = writer.close()
        if written != len(positions):
            raise RuntimeError(f"shard {shard}: {written} vectors for {len(positions)} documents")
        tenths = counter.tenths()
        write_json(draft / "frequencies.json", {str(tenth): tenths[tenth] for tenth in sorted(tenths)})
    log.info("shard %s: %d vectors", shard, written)


def _vectors(model, documents, positions, settings):
    """Yield (document ids, unpruned float16 vectors) in document order."""
    for start in progress(range(positions.start, positions.stop, PASSAGES_AT_A_TIME), desc="encode"):
        span = range(start, min(start + PASSAGES_AT_A_TIME, positions.stop))
        texts = dict(documents.span(span))
        pieces = dict(zip(texts, model.pieces(texts.values()), strict=True))
        vectors = np.empty((len(texts), model.vocabulary), dtype=np.float16)
        for rows, found in vectors_by_batch(model, pieces, settings.token_budget, settings.vocabulary_block):
            vectors[rows] = found
        yield list(texts), vectors


def vectors_by_batch(model: Epic, pieces: dict[str, list[int]], token_budget: int, block: int):
    """Yield (places in `pieces`, unpruned float16 vectors), batch by batch, longest passages first."""
    place = {doc_id: row for row, doc_id in enumerate(pieces)}
    for batch in by_tokens(pieces, token_budget, model.body.window):
        found = document_vectors(model, [pieces[doc_id] for doc_id in batch], block)
        for doc_id, vector in zip(batch, found, strict=True):
            finite(doc_id, vector)
        yield [place[doc_id] for doc_id in batch], found


@torch.inference_mode()
def document_vectors(model: Epic, pieces: list[list[int]], block: int) -> np.ndarray:
    """phi_d of a batch of passages as float16, (B, V); equation 4, block by block."""
    tokens, equations = model.passage_tokens(pieces), model.equations
    h, w, c = equations.hidden(tokens.f), equations.w_d(tokens.f), equations.c(tokens.cls)  # (N, e), (N,), (B,)
    vectors = np.empty((len(pieces), model.vocabulary), dtype=np.float16)
    for start in range(0, model.vocabulary, block):
        weights = w[:, None] * equations.psi(h, slice(start, start + block))  # (N, v)
        best = torch.stack([strongest(part) for part in weights.split(tokens.lengths)])  # (B, v)
        vectors[:, start : start + block] = (c[:, None] * best).half().cpu().numpy()  # (B, v)
    return vectors
