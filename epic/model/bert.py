"""A BERT body over packed rows: word-pieces of all texts one below the other, without padding.

The weights are Hugging Face's, under Hugging Face's names, and the output equals transformers' BertModel (a test holds
them together). Our own code has two advantages: it skips padding, on a CPU in attention as well, and a job that encodes a
query need not spend seconds importing transformers.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, scaled_dot_product_attention

from epic.model.products import Linear, rows_to_add

ROWS_AT_A_TIME = 768  # of the widest layer in inference on a CPU, so that its rows stay in the cache and memory small


class Padding(NamedTuple):
    """The way between rows of W texts, one below the other, and a padded batch of them, (W, T); two views if all are as long."""

    shape: tuple[int, int]  # W, T
    lengths: list[int]  # W numbers that add up to N
    places: Tensor | None  # (N,) where each row stands in the batch, counted row by row; None if nothing is padded
    real: Tensor | None  # (W, T) True where the batch holds a row; None if nothing is padded

    @classmethod
    def of(cls, lengths: list[int], device) -> "Padding":
        """Number the rows here and copy the numbers: a card that numbered them would have to be asked how many there are."""
        shape = len(lengths), max(lengths)
        if min(lengths) == shape[1]:
            return cls(shape, lengths, None, None)
        real = np.arange(shape[1])[None, :] < np.array(lengths)[:, None]  # (W, T)
        return cls(shape, lengths, *(torch.from_numpy(array).to(device) for array in (np.flatnonzero(real), real)))

    def pad(self, rows: Tensor) -> Tensor:
        """Turn rows (N, ...) into a batch (W, T, ...), padded with zeros."""
        if self.places is not None:
            rows = rows.new_zeros(self.shape[0] * self.shape[1], *rows.shape[1:]).index_copy(0, self.places, rows)  # (W*T, ...)
        return rows.unflatten(0, self.shape)  # (W, T, ...)

    def unpad(self, batch: Tensor) -> Tensor:
        """Turn a batch (W, T, ...) into rows (N, ...)."""
        rows = batch.flatten(0, 1)  # (W*T, ...)
        return rows if self.places is None else rows.index_select(0, self.places)  # (N, ...)

    def mask(self, rows: Tensor) -> Tensor:
        """Return a mask (W, T), True where the batch holds a row, that lies where the rows do."""
        return rows.new_ones(self.shape, dtype=torch.bool) if self.real is None else self.real


class Packed(NamedTuple):
    """Word-piece ids of W windows, one below the other, and how they are padded where they must be."""

    ids: Tensor  # (N,)
    positions: Tensor  # (N,) place within the window
    padding: Padding

    @classmethod
    def of(cls, windows: list[list[int]], device) -> "Packed":
        """Number the rows of some windows."""
        lengths = [len(window) for window in windows]
        ids = np.fromiter(chain.from_iterable(windows), dtype=np.int64, count=sum(lengths))  # (N,)
        positions = np.arange(len(ids)) - np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)  # (N,)
        return cls(*copied(device, ids, positions), Padding.of(lengths, device))

    def with_rows(self, count: int) -> "Packed":
        """Return the same with one more window of so many rows, whatever they hold: on a CPU no other window sees it."""
        lengths = [*self.padding.lengths, count]
        return Packed(*(pad(rows, (0, count)) for rows in (self.ids, self.positions)), self.padding._replace(lengths=lengths))


def copied(device, *arrays: np.ndarray) -> tuple[Tensor, ...]:
    """Copy whole numbers to a device, all at once: a card takes as long for a few of them as for many."""
    return torch.from_numpy(np.concatenate(arrays)).to(device).split([len(array) for array in arrays])


class Attention(nn.Module):
    """Self-attention within each window: one window after the other on a CPU, all at once, padded, on a GPU."""

    def __init__(self, config: dict):
        super().__init__()
        size = config["hidden_size"]
        self.heads, self.dropout = config["num_attention_heads"], config["attention_probs_dropout_prob"]
        self.self = nn.ModuleDict({name: Linear(size, size) for name in ("query", "key", "value")})
        self.output = residual(config, size)

    def forward(self, x: Tensor, packed: Packed) -> Tensor:
        q, k, v = (layer(x) for layer in self.self.values())  # (N, e) each
        attend = self._by_window if x.device.type == "cpu" else self._padded
        context = attend(q, k, v, packed)  # (N, e)
        return self.output.LayerNorm(self.output.dropout(self.output.dense(context)) + x)  # (N, e)

    def first(self, x: Tensor, packed: Packed, rows: Tensor) -> Tensor:
        """Return the same of the first row of each window alone, (W, e): it sees its whole window, nothing else is computed."""
        asking, padding = x[rows], packed.padding  # (W, e)
        q, k, v = self.self["query"](asking), self.self["key"](x), self.self["value"](x)  # (W, e), (N, e), (N, e)
        if x.device.type == "cpu":
            parts = zip(
                q.split(1), *(part.split(padding.lengths) for part in (k, v)), strict=False
            )  # a filled-up window asks nothing
            context = torch.cat([self._attend(*(part[None] for part in window), None)[0] for window in parts])  # (W, e)
        else:
            visible = None if padding.real is None else padding.real[:, None, None, :]  # (W, 1, 1, T)
            context = self._attend(q[:, None], padding.pad(k), padding.pad(v), visible)[:, 0]  # (W, e)
        return self.output.LayerNorm(self.output.dropout(self.output.dense(context)) + asking)  # (W, e)

    def _by_window(self, q: Tensor, k: Tensor, v: Tensor, packed: Packed) -> Tensor:
        """Attend window by window, without padding: a padded batch costs twice as much on a CPU, and calls cost little."""
        parts = zip(*(rows.split(packed.padding.lengths) for rows in (q, k, v)), strict=True)
        return torch.cat([self._attend(*(part[None] for part in window), None)[0] for window in parts])  # (N, e)

    def _padded(self, q: Tensor, k: Tensor, v: Tensor, packed: Packed) -> Tensor:
        """Attend in one call for all windows; padding is masked, if there is any: a single query has none."""
        padding = packed.padding
        visible = None if padding.real is None else padding.real[:, None, None, :]  # (W, 1, 1, T)
        context = self._attend(*(padding.pad(rows) for rows in (q, k, v)), visible)  # (W, T, e)
        return padding.unpad(context)  # (N, e)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None) -> Tensor:
        by_head = (rows.unflatten(-1, (self.heads, -1)).transpose(1, 2) for rows in (q, k, v))  # (W, heads, T, e/heads)
        dropout = self.dropout if self.training else 0.0
        context = scaled_dot_product_attention(*by_head, attn_mask=visible, dropout_p=dropout)  # (W, heads, T, e/heads)
        return context.transpose(1, 2).flatten(2)  # (W, T, e)


class Layer(nn.Module):
    """Attention and feed-forward, each with a residual connection and a LayerNorm after it."""

    def __init__(self, config: dict):
        super().__init__()
        self.attention = Attention(config)
        self.intermediate = Named(dense=Linear(config["hidden_size"], config["intermediate_size"]))
        self.output = residual(config, config["intermediate_size"])

    def forward(self, x: Tensor, packed: Packed) -> Tensor:
        x = self.attention(x, packed)  # (N, e)
        if torch.is_grad_enabled() or x.device.type != "cpu":
            return self._feed_forward(x)  # (N, e)
        return torch.cat([self._feed_forward(rows) for rows in x.split(ROWS_AT_A_TIME)])  # (N, e)

    def first(self, x: Tensor, packed: Packed, rows: Tensor) -> Tensor:
        """Return the first row of each window alone, (W, e)."""
        return self._feed_forward(self.attention.first(x, packed, rows))  # (W, e)

    def _feed_forward(self, x: Tensor) -> Tensor:
        inner = gelu(self.intermediate.dense(x))  # (N, 4e)
        return self.output.LayerNorm(self.output.dropout(self.output.dense(inner)) + x)  # (N, e)


class Bert(nn.Module):
    """Embeddings and layers; forward returns the last layer's rows. `segment`: BERT's segment id, of all rows or of each (N,)."""

    def __init__(self, config: dict):
        super().__init__()
        self.config, size = config, config["hidden_size"]
        self.embeddings = Named(
            word_embeddings=nn.Embedding(config["vocab_size"], size),
            position_embeddings=nn.Embedding(config["max_position_embeddings"], size),
            token_type_embeddings=nn.Embedding(config["type_vocab_size"], size),
            LayerNorm=nn.LayerNorm(size, eps=config["layer_norm_eps"]),
            dropout=nn.Dropout(config["hidden_dropout_prob"]),
        )
        self.encoder = Named(layer=nn.ModuleList(Layer(config) for _ in range(config["num_hidden_layers"])))

    @property
    def words(self) -> nn.Embedding:
        return self.embeddings.word_embeddings

    @property
    def window(self) -> int:
        """The number of word-pieces that fit between [CLS] and [SEP]."""
        return self.config["max_position_embeddings"] - 2

    def forward(self, packed: Packed, segment: int | Tensor) -> Tensor:
        rows = len(packed.ids)
        x, packed = self._embedded(packed, segment)  # (N, e)
        for layer in self.encoder.layer:
            x = layer(x, packed)  # (N, e)
        return x[:rows]

    def first(self, packed: Packed, segment: int | Tensor, rows: Tensor) -> Tensor:
        """Return the last layer's first row of each window, (W, e), at little cost there; rows: where windows begin (W,)."""
        x, packed = self._embedded(packed, segment)  # (N, e)
        for layer in self.encoder.layer[:-1]:
            x = layer(x, packed)  # (N, e)
        return self.encoder.layer[-1].first(x, packed, rows)  # (W, e)

    def _embedded(self, packed: Packed, segment: int | Tensor) -> tuple[Tensor, Packed]:
        """Return the rows that enter the first layer, and how they are packed: a few may have been added at the end."""
        e = self.embeddings
        if missing := rows_to_add(len(packed.ids), self.words.weight):
            packed = packed.with_rows(missing)
            segment = segment if isinstance(segment, int) else pad(segment, (0, missing))
        types = e.token_type_embeddings
        of_segment = types.weight[segment] if isinstance(segment, int) else types(segment)  # (e,) or (N, e)
        x = self.words(packed.ids) + e.position_embeddings(packed.positions) + of_segment  # (N, e)
        return e.dropout(e.LayerNorm(x)), packed


class Named(nn.Module):
    """A group of modules under the names that Hugging Face gives them."""

    def __init__(self, **modules: nn.Module):
        super().__init__()
        for name, module in modules.items():
            self.add_module(name, module)


def residual(config: dict, inputs: int) -> Named:
    """Make the layers after attention and feed-forward: a projection, dropout, and the LayerNorm of the sum."""
    size = config["hidden_size"]
    norm = nn.LayerNorm(size, eps=config["layer_norm_eps"])
    return Named(dense=Linear(inputs, size), dropout=nn.Dropout(config["hidden_dropout_prob"]), LayerNorm=norm)
