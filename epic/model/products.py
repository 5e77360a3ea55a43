"""Matrix products of inference on a CPU by oneDNN: on AMD's processors it is twice as fast as MKL, torch's usual way.

The numbers are float32 in both, the order of sums differs. oneDNN compiles a program for every number of rows and keeps it, with
memory of its own, so rows are filled up to a multiple of ROWS; a few rows, a query's say, are not worth that.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

ROWS, ENOUGH = 64, 512


def rows_to_add(rows: int, like: Tensor) -> int:
    """Return how many rows make a number of them one that `product` likes; none if it would not be used."""
    return -rows % ROWS if rows >= ENOUGH and _suits(like) else 0


def filled(x: Tensor) -> Tensor:
    """Return rows (N, e) with as many rows of zeros below as `product` likes."""
    return pad(x, (0, 0, 0, missing)) if (missing := rows_to_add(len(x), x)) else x


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x @ weight.T + bias: x (N, e), weight (v, e), bias (v,); by oneDNN where it can be."""
    if x.ndim == 2 and len(x) >= ENOUGH and len(x) % ROWS == 0 and _suits(x):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # (N, v)
    return linear(x, weight, bias)  # (N, v)


def _suits(x: Tensor) -> bool:
    """Tell whether oneDNN may compute what x is multiplied with: no gradients, and float32 throughout."""
    plain = x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return plain and not torch.is_grad_enabled() and torch.backends.mkldnn.is_available()


class Linear(nn.Linear):
    """A linear layer that multiplies by `product`."""

    def forward(self, x: Tensor) -> Tensor:
        return product(x, self.weight, self.bias)
