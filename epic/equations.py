"""The five equations of the paper, one function each, in its symbols.

B passages or queries in a batch, T word-pieces in the longest, e dimensions, V vocabulary entries. f is the encoder's
last layer. A mask is True for word-pieces and False for [CLS], [SEP] and padding, which are not terms.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus


def importance(theta: Tensor, f: Tensor) -> Tensor:
    """w_q and w_d: how much each term matters, never negative (equations 1 and 2)."""
    return torch.log1p(softplus(f @ theta))  # (..., T)


def quality(theta4: Tensor, cls: Tensor) -> Tensor:
    """c(d): how good the passage is as a whole (equation 3)."""
    return torch.sigmoid(cls @ theta4)  # (B,)


def expansion(Theta2: Tensor, f: Tensor) -> Tensor:
    """psi: each word-piece's value for every vocabulary entry; linear, so it may be negative."""
    return f @ Theta2.T  # (..., T, V)


def document_vector(w: Tensor, psi: Tensor, c: Tensor, mask: Tensor) -> Tensor:
    """phi_d: the weight of every vocabulary entry for a batch of passages (equation 4).

    w (B, T), psi (B, T, V), c (B,), mask (B, T). A passage without word-pieces has the zero vector.
    """
    weights = w[..., None] * psi  # (B, T, V)
    weights = weights.masked_fill(~mask[..., None], -torch.inf)  # (B, T, V), padding can never win the maximum
    best = weights.amax(dim=1)  # (B, V)
    best = best.masked_fill(~mask.any(dim=1)[:, None], 0.0)  # (B, V), no term, no weight
    return c[:, None] * best  # (B, V)


def query_vector(w: Tensor, terms: Tensor, mask: Tensor, vocabulary: int) -> Tensor:
    """phi_q: the importance of the query's terms, zero elsewhere; a repeated term adds up.

    w (B, T), terms (B, T) vocabulary ids, mask (B, T).
    """
    phi = w.new_zeros(w.shape[0], vocabulary)  # (B, V)
    return phi.scatter_add(1, terms, w.masked_fill(~mask, 0.0))  # (B, V)


def similarity(phi_q: Tensor, phi_d: Tensor) -> Tensor:
    """sim(q, d): the dot product (equation 5)."""
    return (phi_q * phi_d).sum(dim=-1)  # (B,)
