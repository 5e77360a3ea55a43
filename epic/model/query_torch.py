"""Query vectors by torch (equation 1): the default on a GPU, and for encoders that have no exported graph."""

import torch

from epic.model.epic import EpicModel
from epic.model.query_vector import QueryVector, query_vector_of


@torch.inference_mode()
def query_vector(model: EpicModel, text: str) -> QueryVector:
    """Encode one query; a repeated term adds up."""
    with model.autocast():
        tokens = model.query_tokens(model.pieces([text]))
        w_q = model.equations.w_q(tokens.f)  # (T,)
    return query_vector_of(tokens.ids.cpu().numpy(), w_q.float().cpu().numpy())
