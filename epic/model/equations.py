"""The equations of EPIC in the paper's symbols, and its two formulations: the text, and the authors' released code.

                      paper                               released
psi, the expansion    Theta2 f, may be negative           ln(1 + softplus(whole MLM head)), never negative
Theta2                an untied copy                      the word embeddings themselves, and a bias
w_q, w_d, c(d)        no bias                             a bias; dropout 0.1 on f before w_q and w_d in training
passages              segment 0                           segment 1
loss                  cross-entropy                       1 - softmax (a setting of the model, see epic.training.train)

In both, c(d) is read off the raw last-layer [CLS], [CLS] and [SEP] are no terms, and repeated query terms add up. In the
released code a batch's [SEP] stands behind the padding, so a vector depends on the batch's longest text; here it stands
right after the last word-piece in both formulations, unless a model of the authors' weights has `released_batches`.

f is the encoder's last layer. B texts in a batch, T word-pieces in the longest, e dimensions, V vocabulary entries. A
mask is True for word-pieces and False for [CLS], [SEP] and padding.
"""

from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, softplus

from epic.model.mlm_head import Head


class Paper(nn.Module):
    """The equations as printed: linear maps without bias."""

    segment = 0  # BERT's segment id of passages; queries have 0

    def __init__(self, embeddings: nn.Embedding, head: Head):
        super().__init__()
        size = head.decoder.shape[1]
        self.theta1, self.theta3, self.theta4 = (nn.Parameter(torch.empty(size).normal_(std=0.02)) for _ in range(3))
        self.Theta2 = nn.Parameter(head.decoder.detach().clone())  # (V, e)

    def w_q(self, f: Tensor) -> Tensor:
        """Return the importance of each query term (equation 1)."""
        return damped(f @ self.theta1)  # (..., T)

    def w_d(self, f: Tensor) -> Tensor:
        """Return the importance of each passage term (equation 2)."""
        return damped(f @ self.theta3)  # (..., T)

    def c(self, cls: Tensor) -> Tensor:
        """Return the quality of the passage as a whole (equation 3)."""
        return torch.sigmoid(cls @ self.theta4)  # (B,)

    def hidden(self, f: Tensor) -> Tensor:
        """Return the vectors that the vocabulary is multiplied with: the token vectors themselves."""
        return f  # (..., T, e)

    def psi(self, h: Tensor, terms) -> Tensor:
        """Return each word-piece's values for chosen vocabulary entries: `terms` (..., Q) ids, or a slice of them."""
        return h @ self.Theta2[terms].mT  # (..., T, Q)

    def head(self, terms) -> tuple[Tensor, Tensor | None]:
        """Return the factor and summand of psi for some vocabulary entries, before any activation."""
        return self.Theta2[terms], None  # (Q, e)

    def reach(self, h: Tensor) -> Tensor:
        """Return the largest logit that each token vector could have: the product of two lengths."""
        return h.norm(dim=-1) * self.Theta2.norm(dim=1).max()  # (..., T)


class Released(nn.Module):
    """The equations of the authors' code: BERT's masked-language-model head, activation, biases and dropout."""

    segment = 1

    def __init__(self, embeddings: nn.Embedding, head: Head):
        super().__init__()
        size = embeddings.embedding_dim
        self.theta1, self.theta3, self.theta4 = (nn.Linear(size, 1) for _ in range(3))
        self.dropout = nn.Dropout(0.1)
        self.dense, self.norm = nn.Linear(size, size), nn.LayerNorm(size, eps=head.eps)
        self.bias = nn.Parameter(head.bias.detach().clone())  # (V,)
        start = {"dense.weight": head.dense, "dense.bias": head.dense_bias, "norm.weight": head.norm, "norm.bias": head.norm_bias}
        self.load_state_dict(start, strict=False)
        self.tied = (embeddings,)  # in a tuple: the body owns it

    def w_q(self, f: Tensor) -> Tensor:
        """Return the importance of each query term (equation 1)."""
        return damped(self.theta1(self.dropout(f)).squeeze(-1))  # (..., T)

    def w_d(self, f: Tensor) -> Tensor:
        """Return the importance of each passage term (equation 2)."""
        return damped(self.theta3(self.dropout(f)).squeeze(-1))  # (..., T)

    def c(self, cls: Tensor) -> Tensor:
        """Return the quality of the passage as a whole (equation 3)."""
        return torch.sigmoid(self.theta4(cls).squeeze(-1))  # (B,)

    def hidden(self, f: Tensor) -> Tensor:
        """Return the head's transform of token vectors, never in half precision: without a learned head it shifts them far."""
        with torch.autocast(f.device.type, enabled=False):
            return self.norm(gelu(self.dense(f.to(self.dense.weight.dtype))))  # (..., T, e)

    def psi(self, h: Tensor, terms) -> Tensor:
        """Return each word-piece's values for chosen vocabulary entries: `terms` (..., Q) ids, or a slice of them."""
        matrix, bias = self.head(terms)  # (..., Q, e), (..., Q)
        return damped(h @ matrix.mT + bias[..., None, :])  # (..., T, Q)

    def head(self, terms) -> tuple[Tensor, Tensor]:
        """Return the factor and summand of psi for some vocabulary entries, before any activation."""
        return self.tied[0].weight[terms], self.bias[terms]  # (Q, e), (Q,)

    def reach(self, h: Tensor) -> Tensor:
        """Return the largest logit that each token vector could have: the product of two lengths, and the bias."""
        return h.norm(dim=-1) * self.tied[0].weight.norm(dim=1).max() + self.bias.abs().max()  # (..., T)


FORMULATIONS = {"paper": Paper, "released": Released}


def damped(x: Tensor) -> Tensor:
    """Return ln(1 + softplus(x)): it is never negative, and large values are damped."""
    return torch.log1p(softplus(x))


def phi_d(w: Tensor, psi: Tensor, c: Tensor, mask: Tensor) -> Tensor:
    """Return the weight of vocabulary entries for passages (equation 4): w (B, T), psi (B, T, Q), c (B,), mask (B, T).

    A passage without word-pieces has the zero vector.
    """
    weights = w[..., None] * psi  # (B, T, Q)
    weights = weights.masked_fill(~mask[..., None], -torch.inf)  # (B, T, Q), padding can never win the maximum
    best = weights.amax(dim=1) if mask.shape[1] else psi.new_zeros(psi.shape[0], psi.shape[2])  # (B, Q)
    best = best.masked_fill(~mask.any(dim=1)[:, None], 0.0)  # (B, Q), no term, no weight
    return c[:, None] * best  # (B, Q)


def strongest(weights: Tensor) -> Tensor:
    """Return the maximum of equation 4 for one passage: weights (T, Q); a passage without word-pieces has the zero vector."""
    return weights.amax(dim=0) if len(weights) else weights.new_zeros(weights.shape[1])  # (Q,)


def strongest_of_each(weights: Tensor, bounds: Tensor) -> Tensor:
    """Return the same for B passages, one below the other: weights (N, Q); passage b has the rows bounds[b] to bounds[b+1]."""
    if not len(weights):
        return weights.new_zeros(len(bounds) - 1, weights.shape[1])  # (B, Q)
    best = torch.segment_reduce(weights, "max", offsets=bounds, axis=0, unsafe=True)  # (B, Q)
    return best.masked_fill((bounds[1:] == bounds[:-1])[:, None], 0.0)  # (B, Q)


def segment_bounds(lengths: list[int], device) -> Tensor:
    """Return where each of B passages begins, and where the last ends: (B+1,); summed here, so that a card waits for nothing."""
    return torch.tensor([0, *accumulate(lengths)], device=device)


def phi_q(w: Tensor, terms: Tensor, mask: Tensor, vocabulary: int) -> Tensor:
    """Return the importance of the query's terms, zero elsewhere; a repeated term adds up: w, terms and mask are (B, T)."""
    vector = w.new_zeros(w.shape[0], vocabulary)  # (B, V)
    return vector.scatter_add(1, terms, w.masked_fill(~mask, 0.0))  # (B, V)


def sim(query: Tensor, passage: Tensor) -> Tensor:
    """Return sim(q, d): the dot product of phi_q and phi_d (equation 5)."""
    return (query * passage).sum(dim=-1)  # (B,)
