"""Query vectors by torch (equation 1): the default on a GPU, and for encoders that have no exported graph."""

import numpy as np
import torch

from epic.model.epic import EpicModel
from epic.model.query_vector import QueryVector, query_vector_of

BATCH, LIMIT = 16, 500  # of the released code: queries at a time when it re-ranks a query set, and word-pieces of a query


@torch.inference_mode()
def query_vector(model: EpicModel, text: str, longest: int | None = None) -> QueryVector:
    """Encode one query; a repeated term adds up. longest: of its batch in the released code, if it is encoded as there."""
    pieces = model.pieces([text], longest)
    with model.autocast():
        tokens = model.query_tokens(pieces, None if longest is None else [longest])
        w_q = model.equations.w_q(tokens.f)  # (T,)
    return query_vector_of(np.array(pieces[0], dtype=np.int64), w_q.float().cpu().numpy())


def longest_queries(model: EpicModel, queries: dict[str, str]) -> dict[str, int]:
    """Return the word-pieces of the longest query in each query's batch of the released code: sixteen at a time, in order."""
    lengths, found = [len(ids) for ids in model.pieces(queries.values())], {}
    for place, query_id in enumerate(queries):
        start = place - place % BATCH
        found[query_id] = min(LIMIT, max(lengths[start : start + BATCH]))
    return found
