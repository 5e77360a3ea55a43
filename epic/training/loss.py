"""Losses of training, for each triple: scores (B, 2), the relevant passage's first."""

import torch
from torch import Tensor
from torch.nn.functional import softplus


def cross_entropy(scores: Tensor) -> Tensor:
    """Return -log softmax of the relevant passage's score, as in the paper."""
    return -torch.log_softmax(scores, dim=1)[:, 0]  # (B,)


def one_minus_softmax(scores: Tensor) -> Tensor:
    """Return 1 - softmax of the relevant passage's score, as in the released code."""
    return 1 - torch.softmax(scores, dim=1)[:, 0]  # (B,)


def hinge(scores: Tensor) -> Tensor:
    """Return what the relevant passage's score lacks to be 1 above the other's, as TK is trained."""
    return torch.relu(1 - scores[:, 0] + scores[:, 1])  # (B,)


def binary_cross_entropy(scores: Tensor) -> Tensor:
    """Return the mean cross-entropy of two decisions, relevant or not, each passage by itself; scores are log-odds."""
    return (softplus(-scores[:, 0]) + softplus(scores[:, 1])) / 2  # (B,)


LOSSES = {
    "cross-entropy": cross_entropy,
    "one-minus-softmax": one_minus_softmax,
    "hinge": hinge,
    "binary-cross-entropy": binary_cross_entropy,
}
