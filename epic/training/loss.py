"""Losses of training, for each triple: scores (B, 2), the relevant passage's first."""

import torch
from torch import Tensor


def cross_entropy(scores: Tensor) -> Tensor:
    """Return -log softmax of the relevant passage's score, as in the paper."""
    return -torch.log_softmax(scores, dim=1)[:, 0]  # (B,)


def one_minus_softmax(scores: Tensor) -> Tensor:
    """Return 1 - softmax of the relevant passage's score, as in the released code."""
    return 1 - torch.softmax(scores, dim=1)[:, 0]  # (B,)


LOSSES = {"cross-entropy": cross_entropy, "one-minus-softmax": one_minus_softmax}
