"""Passages reweighted by DeepCT, one folder per shard: docs00.json as DeepCT publishes them, lines of id and contents.

Batches are made within blocks of consecutive passages, and shards consist of whole blocks: so a passage is always computed
beside the same others, and the text is the same, to the last rounding, however many shards there are.
"""

import json
import logging
from collections.abc import Iterator
from itertools import pairwise
from time import perf_counter

import numpy as np
import torch

from epic.core.files import InputError, replacing
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.first_stage.deepct_counts import Form, rewritten
from epic.model.device import PRECISIONS
from epic.model.term_weights import TermWeights
from epic.vectors.batches import Budget, computed
from epic.vectors.throughput import pace
from epic.vectors.tokenise import parse_shard, shard_bounds

log = logging.getLogger(__name__)
BLOCK = 128  # passages, sorted by length among themselves
FILE = "docs00.json"


def reweigh(model: TermWeights, documents: Documents, shard: str, form: Form, token_budget: int, precision: str, out) -> int:
    """Write the passages of a shard, each word as often as it weighs, and return their number; those of no word are left out."""
    blocks, budget, began, kept = blocks_of(len(documents), shard), Budget(token_budget), perf_counter(), 0
    total = sum(map(len, blocks))
    model.eval()
    with replacing(out) as draft, progress(total=total, desc=f"reweigh {shard}", unit="passage") as bar:
        draft.mkdir()
        with open(draft / FILE, "w", encoding="utf-8") as stream:
            for rows in blocks:
                texts = dict(documents.span(rows))
                for doc_id, text in _reweighted(model, texts, form, budget, precision):
                    stream.write(json.dumps({"id": doc_id, "contents": text}) + "\n")
                    kept += 1
                bar.update(len(rows))
    speed = pace(total, total, perf_counter() - began) if total else "no passages"
    log.info("shard %s: %s; %d keep no word", shard, speed, total - kept)
    return kept


def blocks_of(passages: int, shard: str) -> list[range]:
    """Return the positions of a shard's passages, block by block; the shards together have all passages once."""
    numbers = shard_bounds(-(-passages // BLOCK), *parse_shard(shard))
    return [range(number * BLOCK, min((number + 1) * BLOCK, passages)) for number in numbers]


def _reweighted(
    model: TermWeights, texts: dict[str, str], form: Form, budget: Budget, precision: str
) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of the passages of a block that keep a word, in their order."""
    pieces = dict(zip(texts, model.pieces(texts.values()), strict=True))
    found = dict(weights_of(model, pieces, budget, precision))
    for doc_id, ids in pieces.items():
        if text := rewritten(model.tokens(ids), found[doc_id].tolist(), form):
            yield doc_id, text


def weights_of(
    model: TermWeights, pieces: dict[str, list[int]], budget: Budget, precision: str = "float32"
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield (id, weights of its word-pieces (n,)) of some passages, the longest first."""
    device, mixed = next(model.parameters()).device.type, precision in ("float16", "bfloat16")

    def weigh(batch: list[str]) -> np.ndarray:
        with torch.inference_mode(), torch.autocast(device, PRECISIONS[precision], mixed):
            return model([pieces[doc_id] for doc_id in batch]).float().cpu().numpy()  # (N,)

    for batch, weights in computed(pieces, budget, model.window, weigh):
        bounds = np.cumsum([0, *(len(pieces[doc_id]) for doc_id in batch)]).tolist()
        for doc_id, (start, stop) in zip(batch, pairwise(bounds), strict=True):
            if not np.isfinite(weights[start:stop]).all():
                raise InputError(
                    f"passage {doc_id}: a weight is not finite; set compute.precision to float32, or train the weighter again"
                )
            yield doc_id, weights[start:stop]
