"""Query encoding: how much each term of a query matters (equation 1)."""

import numpy as np
import torch

from epic.log import progress
from epic.model import Epic
from epic.vectors import QueryVector


def weigh(model: Epic, queries: dict[str, str]) -> dict[str, QueryVector]:
    """Vectors of all queries, one at a time, so that none depends on its neighbours."""
    return {query_id: query_vector(model, text) for query_id, text in progress(queries.items(), desc="queries")}


@torch.inference_mode()
def query_vector(model: Epic, text: str) -> QueryVector:
    """Encode one query; a repeated term adds up."""
    tokens = model.query_tokens(model.pieces([text]))
    w_q = model.equations.w_q(tokens.f).cpu().numpy()  # (T,)
    terms, places = np.unique(tokens.ids.cpu().numpy(), return_inverse=True)  # (n,), (T,)
    weights = np.zeros(len(terms), dtype=np.float32)  # (n,)
    np.add.at(weights, places, w_q)
    return QueryVector(terms.astype(np.uint16), weights)
