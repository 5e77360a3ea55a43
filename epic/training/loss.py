"""What training makes small, for each triple: scores (B, 2), the relevant passage's first."""

import torch
from torch import Tensor


def cross_entropy(scores: Tensor) -> Tensor:
    """-log softmax of the relevant passage's score, as the paper says."""
    return -torch.log_softmax(scores, dim=1)[:, 0]  # (B,)


def one_minus_softmax(scores: Tensor) -> Tensor:
    """1 - softmax of the relevant passage's score, as the released code does."""
    return 1 - torch.softmax(scores, dim=1)[:, 0]  # (B,)


LOSSES = {"cross-entropy": cross_entropy, "one-minus-softmax": one_minus_softmax}
