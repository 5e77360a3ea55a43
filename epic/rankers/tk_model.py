"""TK's equations: words in their context, and kernels over the cosines of their vectors.

Hofstätter, Zlabinger and Hanbury, "Interpretable & Time-Budget-Constrained Contextualization for Re-Ranking" (ECAI 2020), as
the authors' first release computes it (class TK_v1). A query and a passage never meet before the cosines, so what is computed
of a text serves every pair that has it.

Letters in the comments: N words of W texts, one below the other, without padding; e dimensions; T words of the longest text; n
pairs of a query of Q words and a passage of T words; K kernels.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu, scaled_dot_product_attention

from epic.model.bert import Packed, Padding, copied
from epic.model.products import Linear, rows_to_add

MU = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9)  # centres of the K kernels
SIGMA = 0.1  # width of every kernel
NO_COSINE = 9.0  # stands where there is no word: so far from every centre that no kernel sees it
FAINTEST = -80.0  # exponent of a kernel's value, 2e-35: exp takes four times as long where its result is no common float32
LONGEST_WAVE = 1e4  # time scales of the positions: from 1 to this
EPS = 1e-6  # of LayerNorm


class Batch(NamedTuple):
    """Contextualised words of n texts, zeros behind those of the shorter ones."""

    vectors: Tensor  # (n, T, e)
    real: Tensor  # (n, T) where there is a word

    def of(self, texts) -> "Batch":
        """Return some texts, by their numbers; one may come several times."""
        if np.array_equal(texts, np.arange(len(self.real))):
            return self
        (chosen,) = copied(self.real.device, np.asarray(texts, dtype=np.int64))  # (n,)
        return Batch(self.vectors.index_select(0, chosen), self.real.index_select(0, chosen))  # (n, T, e), (n, T)


class Terms(NamedTuple):
    """Contextualised words of W texts, as vectors of length 1: their products are cosines."""

    rows: Tensor  # (N, e)
    lengths: list[int]  # W numbers that add up to N

    def of(self, texts: np.ndarray) -> "Terms":
        """Return the words of some of the texts (w,), in the order asked for."""
        lengths = np.array(self.lengths, dtype=np.int64)  # (W,)
        first, some = np.cumsum(lengths) - lengths, lengths[texts]  # (W,), (w,)
        places = np.repeat(first[texts] - (np.cumsum(some) - some), some) + np.arange(some.sum())  # (M,)
        return Terms(self.rows.index_select(0, *copied(self.rows.device, places)), some.tolist())

    def padded(self) -> Batch:
        """Return the texts as a batch."""
        padding = Padding.of(self.lengths, self.rows.device)
        return Batch(padding.pad(self.rows), padding.mask(self.rows))  # (W, T, e), (W, T)


class TK(nn.Module):
    """Words, their contextualisation, and the kernels that score a pair. `vectors` (words, e) are what the words start from."""

    def __init__(self, vectors: Tensor, longest: int, layers: int, heads: int, projection: int, feed_forward: int):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, freeze=False, sparse=True)
        self.contextualiser = Contextualiser(vectors.shape[1], longest, layers, heads, projection, feed_forward)
        self.mixture = nn.Parameter(torch.tensor(0.5))  # a: how much of a word is the word alone
        self.kernels = Kernels()

    def terms(self, texts: list[list[int]]) -> Terms:
        """Contextualise texts, each by itself; they are numbers of words, and may be empty."""
        packed = Packed.of([text for text in texts if text], self.words.weight.device) if any(texts) else None
        rows = self._contextualised(packed) if packed else self.words.weight[:0]  # (N, e)
        return Terms(rows, [len(text) for text in texts])

    def _contextualised(self, packed: Packed) -> Tensor:
        count = len(packed.ids)
        if missing := rows_to_add(count, self.words.weight):
            packed = packed.with_rows(missing)
        words = self.words(packed.ids)  # (N, e)
        context = self.contextualiser(words, packed)  # (N, e)
        mixed = self.mixture * words + (1 - self.mixture) * context  # (N, e) in float32, since words are
        return (mixed / (mixed.norm(dim=-1, keepdim=True) + 1e-13))[:count]  # (N, e)

    def similarities(self, queries: Batch, passages: Batch) -> Tensor:
        """Return the scores (n,) of n pairs of a query and a passage; in float32, whatever autocast says."""
        with torch.autocast(self.mixture.device.type, enabled=False):
            return self.kernels(*queries, *passages)  # (n,)


class Contextualiser(nn.Module):
    """Layers of self-attention over words whose positions are added as waves; the same for queries and passages."""

    def __init__(self, e: int, longest: int, layers: int, heads: int, projection: int, feed_forward: int):
        super().__init__()
        self.layers = nn.ModuleList(Layer(e, heads, projection, feed_forward) for _ in range(layers))
        self.register_buffer("waves", waves(longest, e), persistent=False)  # (longest, e)

    def forward(self, words: Tensor, packed: Packed) -> Tensor:
        x = words + self.waves.index_select(0, packed.positions)  # (N, e)
        for layer in self.layers:
            x = layer(x, packed)  # (N, e)
        return x


def waves(longest: int, e: int) -> Tensor:
    """Return what is added at each position (longest, e): e/2 sines, then e/2 cosines, slower and slower."""
    half = e // 2
    speeds = np.exp(-np.arange(half) * math.log(LONGEST_WAVE) / max(half - 1, 1))  # (e/2,) from 1 to 1e-4
    angles = np.arange(longest)[:, None] * speeds  # (longest, e/2)
    return torch.from_numpy(np.concatenate([np.sin(angles), np.cos(angles)], axis=1)).type(torch.get_default_dtype())


class Layer(nn.Module):
    """Feed-forward, then self-attention, as AllenNLP stacks them: each with a residual connection and a LayerNorm after it.

    The heads share `projection` dimensions, but products are divided by the root of e // heads, as AllenNLP does it.
    """

    def __init__(self, e: int, heads: int, projection: int, feed_forward: int):
        super().__init__()
        self.heads, self.scale = heads, (e // heads) ** -0.5
        self.inner, self.outer = Linear(e, feed_forward), Linear(feed_forward, e)
        self.fed = nn.LayerNorm(e, eps=EPS)
        self.qkv, self.output = Linear(e, 3 * projection), Linear(projection, e)
        self.attended = nn.LayerNorm(e, eps=EPS)

    def forward(self, x: Tensor, packed: Packed) -> Tensor:
        x = self.fed(self.outer(relu(self.inner(x))) + x)  # (N, e)
        attend = self._by_text if x.device.type == "cpu" else self._padded
        context = attend(self.qkv(x), packed.padding)  # (N, p)
        return self.attended(self.output(context) + x)  # (N, e)

    def _by_text(self, qkv: Tensor, padding: Padding) -> Tensor:
        """Attend text by text: on a CPU a padded batch takes three times as long."""
        return torch.cat([self._attend(rows[None], None)[0] for rows in qkv.split(padding.lengths)])  # (N, p)

    def _padded(self, qkv: Tensor, padding: Padding) -> Tensor:
        """Attend in all texts at once; padding is masked, unknown words are not."""
        visible = None if padding.real is None else padding.real[:, None, None, :]  # (W, 1, 1, T)
        return padding.unpad(self._attend(padding.pad(qkv), visible))  # (N, p)

    def _attend(self, qkv: Tensor, visible: Tensor | None) -> Tensor:
        q, k, v = qkv.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # (W, heads, T, p/heads) each
        context = scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=self.scale)  # (W, heads, T, p/heads)
        return context.transpose(1, 2).flatten(2)  # (W, T, p)


class Kernels(nn.Module):
    """Soft counts of matches, by their strength: for each query word and kernel, summed over the passage."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mu", torch.tensor(MU), persistent=False)  # (K,)
        self.scale = nn.Parameter(torch.tensor(0.01))  # s, the same in both branches
        self.log_sums, self.mean_sums = (nn.Linear(len(MU), 1, bias=False) for _ in range(2))
        self.both = nn.Linear(2, 1, bias=False)
        for branch in (self.log_sums, self.mean_sums):
            nn.init.uniform_(branch.weight, -0.014, 0.014)

    def forward(self, q: Tensor, asked: Tensor, d: Tensor, said: Tensor) -> Tensor:
        """Return the scores (n,) of pairs of q (n, Q, e) and d (n, T, e); `asked` (n, Q) and `said` (n, T): where words are."""
        cosines = q @ d.transpose(1, 2)  # (n, Q, T)
        cosines = cosines.masked_fill(~said[:, None, :], NO_COSINE)  # (n, Q, T)
        distances = cosines[:, :, None, :] - self.mu[:, None]  # (n, Q, K, T)
        matches = (distances**2 / (-2 * SIGMA**2)).clamp(min=FAINTEST).exp()  # (n, Q, K, T)
        counts = matches.sum(-1)  # (n, Q, K)
        logs = self.scale * counts.clamp(min=1e-10).log2()  # (n, Q, K)
        means = self.scale * counts / (said.sum(1)[:, None, None] + 1)  # (n, Q, K)
        by_kernel = ((branch * asked[:, :, None]).sum(1) for branch in (logs, means))  # (n, K) each
        scores = [layer(x) for layer, x in zip((self.log_sums, self.mean_sums), by_kernel, strict=True)]  # (n, 1) each
        return self.both(torch.cat(scores, dim=1)).squeeze(1)  # (n,)
