"""EPIC: the encoder and the four added parameters, and the same scores as the equations at a fraction of the cost.

`epic.equations` is the paper. This module never builds psi for the whole vocabulary where only a query's terms are
asked for: the score needs phi_d at the query's word-pieces alone, so only those rows of Theta2 are multiplied.
"""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from epic.bert import Bert, Packed, load_pretrained, read_config
from epic.equations import importance, quality
from epic.files import InputError, read_json, whole, write_json


class Tokens(NamedTuple):
    """B encoded texts: f of their word-pieces, packed, without [CLS] and [SEP]; the [CLS] vectors apart."""

    f: Tensor  # (N, e)
    ids: Tensor  # (N,)
    lengths: list[int]  # B numbers that add up to N
    cls: Tensor  # (B, e)

    def padded(self, rows: Tensor) -> Tensor:
        """Rows of all word-pieces (N, ...) as a batch (B, T, ...), padded with zeros."""
        return pad_sequence(rows.split(self.lengths), batch_first=True)

    def mask(self) -> Tensor:
        """(B, T), True for word-pieces."""
        lengths = torch.tensor(self.lengths, device=self.f.device)
        return torch.arange(max(self.lengths), device=self.f.device)[None, :] < lengths[:, None]


class Epic(nn.Module):
    """A BERT body with theta1 (query terms), Theta2 (expansion), theta3 (passage terms) and theta4 (quality)."""

    def __init__(self, body: Bert, Theta2: Tensor, tokenizer: Tokenizer):
        super().__init__()
        size = Theta2.shape[1]
        self.body = body
        self.Theta2 = nn.Parameter(Theta2)  # (V, e), a copy: not tied to the word embeddings
        self.theta1, self.theta3, self.theta4 = (nn.Parameter(torch.empty(size).normal_(std=0.02)) for _ in range(3))
        self.tokenizer = tokenizer
        self.window = body.config["max_position_embeddings"] - 2  # word-pieces between [CLS] and [SEP]

    @property
    def vocabulary(self) -> int:
        return self.Theta2.shape[0]

    def pieces(self, texts, limit: int | None = None) -> list[list[int]]:
        """Word-piece ids of each text, without [CLS] and [SEP], at most `limit` of them."""
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids[:limit] for encoding in encoded]

    def encode(self, pieces: list[list[int]]) -> Tokens:
        """Run the body over a batch of texts.

        A text longer than the body's window is split into equal windows; their word-pieces are joined again and their
        [CLS] vectors averaged. [SEP] stands right after a window's last word-piece, whatever else is in the batch.
        """
        start, end = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        windows = [windows_of(ids, self.window) for ids in pieces]
        framed = [[start, *window, end] for item in windows for window in item]
        packed = Packed.of(framed, self.Theta2.device)
        states = self.body(packed)  # (M, e), [CLS] and [SEP] included
        first = packed.positions == 0  # (M,), the [CLS] of each window
        last = first.roll(-1)  # (M,), the [SEP] of each window: a [CLS] follows
        counts = torch.tensor([len(item) for item in windows], device=states.device)  # (B,)
        owners = torch.repeat_interleave(torch.arange(len(pieces), device=states.device), counts)  # (W,)
        sums = states.new_zeros(len(pieces), states.shape[1]).index_add(0, owners, states[first])  # (B, e)
        inside = ~(first | last)  # (M,)
        return Tokens(states[inside], packed.ids[inside], [len(ids) for ids in pieces], sums / counts[:, None])

    def score(self, queries: Tokens, passages: Tokens) -> Tensor:
        """sim(q, d) of B queries and K passages each, (B, K): equations 1 to 5, phi_d only at the query's terms."""
        count, times = len(queries.lengths), len(passages.lengths) // len(queries.lengths)
        w_q = queries.padded(importance(self.theta1, queries.f))  # (B, Tq), zero where padded
        columns = queries.padded(self.Theta2[queries.ids])  # (B, Tq, e)
        phi = self.weights_at(passages, columns.repeat_interleave(times, dim=0))  # (B*K, Tq)
        return (w_q[:, None, :] * phi.view(count, times, -1)).sum(dim=-1)  # (B, K)

    def weights_at(self, passages: Tokens, columns: Tensor) -> Tensor:
        """phi_d at chosen terms (equation 4); columns (B, Q, e) are their rows of Theta2."""
        w_d = passages.padded(importance(self.theta3, passages.f))  # (B, T)
        psi = torch.einsum("bte,bqe->btq", passages.padded(passages.f), columns)  # (B, T, Q)
        mask = passages.mask()  # (B, T)
        best = (w_d[..., None] * psi).masked_fill(~mask[..., None], -torch.inf)  # (B, T, Q), padding never wins
        best = best.amax(dim=1) if mask.shape[1] else psi.new_zeros(psi.shape[0], psi.shape[2])  # (B, Q)
        best = best.masked_fill(~mask.any(dim=1)[:, None], 0.0)  # (B, Q), no term, no weight
        return quality(self.theta4, passages.cls)[:, None] * best  # (B, Q)

    def save_pretrained(self, path) -> None:
        """Write a Hugging Face style folder: config.json, model.safetensors, tokenizer.json, epic.json."""
        with whole(path) as draft:
            draft.mkdir()
            write_json(draft / "config.json", self.body.config)
            state = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
            save_file(state, draft / "model.safetensors")
            self.tokenizer.save(str(draft / "tokenizer.json"))
            write_json(draft / "epic.json", {"formulation": "paper", "vocabulary": self.vocabulary})

    @classmethod
    def from_pretrained(cls, path, device: str = "cpu") -> "Epic":
        """A trained model, ready for inference."""
        if not (Path(path) / "epic.json").exists():
            raise InputError(f"{path}: not an EPIC checkpoint (no epic.json)")
        config = read_config(path)
        matrix = torch.empty(read_json(Path(path) / "epic.json")["vocabulary"], config["hidden_size"])  # (V, e)
        model = cls(Bert(config), matrix, tokenizer_of(path))
        model.load_state_dict(load_file(Path(path) / "model.safetensors"))
        return model.to(device).eval()

    @classmethod
    def from_encoder(cls, path, seed: int) -> "Epic":
        """An untrained model: Theta2 from the masked-language-model matrix, or the word embeddings where there is none."""
        body, matrix = load_pretrained(path)
        torch.manual_seed(seed)
        return cls(body, matrix.detach().clone(), tokenizer_of(path))


def windows_of(ids: list[int], window: int) -> list[list[int]]:
    """Split into as few windows as possible, of nearly equal length; an empty text is one empty window."""
    count = max(1, -(-len(ids) // window))
    bounds = [len(ids) * part // count for part in range(count + 1)]
    return [ids[left:right] for left, right in pairwise(bounds)]


def tokenizer_of(path) -> Tokenizer:
    """The encoder's word-piece tokenizer, without the limits that some encoders ship (128 word-pieces, say)."""
    tokenizer = Tokenizer.from_file(str(Path(path) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
