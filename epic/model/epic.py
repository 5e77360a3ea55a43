"""EPIC: an encoder and the equations, and the same scores as the equations at a fraction of the cost.

`epic.model.equations` is the paper. This module never builds psi for the whole vocabulary if only a query's terms are
asked for: the score needs phi_d only at the query's word-pieces, so only those rows of Theta2 are multiplied.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from epic.core.files import InputError, replacing, sha256_of, write_json, write_text
from epic.core.places import placeless_config
from epic.model.bert import Bert, Packed, Padding, copied
from epic.model.body import body_of, load_pretrained
from epic.model.checkpoint import load_weights, save_weights
from epic.model.device import PRECISIONS, prepare
from epic.model.equations import FORMULATIONS, phi_d, sim
from epic.model.facts import naming, read_facts
from epic.model.mlm_head import Head, head_of
from epic.model.query_vector import MAX_VOCABULARY
from epic.model.tokens import layout, refuse_unknown_pieces, special_tokens, tokenizer_of, windows_of


class Tokens(NamedTuple):
    """B encoded texts: f of their word-pieces, packed, without [CLS] and [SEP]; the [CLS] vectors apart."""

    f: Tensor  # (N, e)
    ids: Tensor  # (N,)
    lengths: list[int]  # B numbers that add up to N
    cls: Tensor  # (B, e)

    def padding(self) -> Padding:
        """Return the way from rows of all word-pieces (N, ...) to a batch (B, T, ...)."""
        return Padding.of(self.lengths, self.f.device)


class Rows(NamedTuple):
    """The rows of a packed batch by what they hold, numbered here so that no card has to be asked."""

    first: Tensor  # (W,) of the [CLS] of each window
    last: Tensor  # (W,) of its [SEP]
    inside: Tensor  # (N,) of word-pieces
    owners: Tensor  # (W,) the text that each window belongs to
    counts: Tensor  # (B,) windows of each text
    lengths: list[int]  # word-pieces of each text

    @classmethod
    def of(cls, windows: list[list[list[int]]], device) -> "Rows":
        """Number the rows of texts, each a list of windows without [CLS] and [SEP]."""
        sizes = np.array([len(window) + 2 for item in windows for window in item])  # (W,)
        last = np.cumsum(sizes) - 1  # (W,)
        first = last - sizes + 1  # (W,)
        inside = np.delete(np.arange(last[-1] + 1), np.concatenate([first, last]))  # (N,)
        counts = np.array([len(item) for item in windows])  # (B,)
        arrays = first, last, inside, np.repeat(np.arange(len(windows)), counts), counts
        return cls(*copied(device, *arrays), [sum(map(len, item)) for item in windows])


class EpicModel(nn.Module):
    """An encoder's body, and the equations of one formulation with their parameters."""

    def __init__(self, formulation: str, body, head: Head, tokenizer: Tokenizer):
        super().__init__()
        if body.words.num_embeddings > MAX_VOCABULARY:
            raise InputError(
                f"the encoder has {body.words.num_embeddings} vocabulary entries; vectors hold up to {MAX_VOCABULARY}"
            )
        segments = body.config["type_vocab_size"] if isinstance(body, Bert) else MAX_VOCABULARY  # other bodies do without
        if segments <= FORMULATIONS[formulation].segment:
            raise InputError(
                f"the encoder tells no segments apart (type_vocab_size {segments}), the formulation {formulation} has two; "
                "say paper, or name another encoder"
            )
        self.formulation, self.body, self.tokenizer = formulation, body, tokenizer
        self.equations = FORMULATIONS[formulation](body.words, head)
        self.start, self.end = special_tokens(tokenizer)
        self.precision = torch.float32  # of inference; training has its own setting
        self.released_batches = False  # whether passages and queries are encoded as in the batches of the released code

    @property
    def vocabulary(self) -> int:
        return self.body.words.num_embeddings

    @property
    def device(self) -> str:
        """The kind of device the model lies on."""
        return self.body.words.weight.device.type

    def autocast(self):
        """Run inference in the model's precision: mixed precision on a GPU, if it is set."""
        return torch.autocast(self.device, self.precision, enabled=self.precision != torch.float32)

    def pieces(self, texts, limit: int | None = None) -> list[list[int]]:
        """Return word-piece ids of each text, without [CLS] and [SEP], at most `limit` of them."""
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids[:limit] for encoding in encoded]

    def query_tokens(self, pieces: list[list[int]], longest: list[int] | None = None) -> Tokens:
        """Run the body over a batch of queries; longest: see `_tokens`."""
        return self._tokens(pieces, 0, longest)

    def passage_tokens(self, pieces: list[list[int]], longest: list[int] | None = None) -> Tokens:
        """Run the body over a batch of passages; longest: see `_tokens`."""
        return self._tokens(pieces, self.equations.segment, longest)

    def _tokens(self, pieces: list[list[int]], segment: int, longest: list[int] | None) -> Tokens:
        """Run the body over a batch of texts. A text longer than the body's window is split into windows; their word-pieces are
        joined again and their [CLS] vectors averaged. [SEP] stands right after a window's last word-piece, whatever else is
        in the batch.

        longest: for each text, the word-pieces of the longest text in its batch of the released code. The text is then split
        and cut as there, and [SEP] has the position behind the padding. Padding itself is not computed: nothing attends to it.
        """
        limits = longest or [None] * len(pieces)
        windows = [windows_of(ids, self.body.window, limit) for ids, limit in zip(pieces, limits, strict=True)]
        framed = [[self.start, *window, self.end] for item in windows for window in item]
        packed = Packed.of(framed, self.body.words.weight.device)
        rows = Rows.of(windows, packed.ids.device)
        if longest is not None:
            packed = packed._replace(positions=self._behind_padding(packed.positions, rows.last, longest))
        states = self.body(packed, segment)  # (M, e), [CLS] and [SEP] included
        sums = states.new_zeros(len(pieces), states.shape[1]).index_add(0, rows.owners, states[rows.first])  # (B, e)
        return Tokens(states[rows.inside], packed.ids[rows.inside], rows.lengths, sums / rows.counts[:, None])

    def _behind_padding(self, positions: Tensor, last: Tensor, longest: list[int]) -> Tensor:
        """Return positions (M,) with those of [SEP], in the rows `last`, behind the padding of its window."""
        if not isinstance(self.body, Bert):
            raise InputError("the batches of the released code are known for BERT alone; leave released_batches out")
        layouts = [layout(length, self.body.window) for length in longest]
        ends = [size + 1 for count, size in layouts for _ in range(count)]  # W numbers
        moved = positions.clone()
        moved[last] = torch.tensor(ends, device=positions.device)
        return moved  # (M,)

    def similarities(self, queries: Tokens, passages: Tokens) -> Tensor:
        """Return sim(q, d) of B queries and K passages each, (B, K): equations 1 to 5, phi_d only at the query's terms."""
        count, times = len(queries.lengths), len(passages.lengths) // len(queries.lengths)
        of_queries, of_passages = queries.padding(), passages.padding()
        w_q = of_queries.pad(self.equations.w_q(queries.f))  # (B, Tq), zero where padded
        terms = of_queries.pad(queries.ids).repeat_interleave(times, dim=0)  # (B*K, Tq)
        w_d, c = of_passages.pad(self.equations.w_d(passages.f)), self.equations.c(passages.cls)  # (B*K, T), (B*K,)
        h = of_passages.pad(self.equations.hidden(passages.f))  # (B*K, T, e)
        phi = phi_d(w_d, self.equations.psi(h, terms), c, of_passages.mask(h))  # (B*K, Tq)
        return sim(w_q[:, None, :], phi.view(count, times, -1))  # (B, K)

    def save_pretrained(self, path, card: Callable[[str], str] | None = None) -> None:
        """Write a Hugging Face style folder: config.json, model.safetensors, tokenizer.json, epic.json, and a model card.

        `card` makes the card from the sha256 of the weights. A folder with other contents is not replaced.
        """
        if Path(path).is_dir() and any(Path(path).iterdir()) and not (Path(path) / "epic.json").exists():
            raise InputError(f"{path} exists and is no EPIC checkpoint; name a new folder")
        with replacing(path) as draft:
            draft.mkdir()
            write_json(draft / "config.json", placeless_config(self.body.config))
            save_weights(self, draft / "model.safetensors")
            self.tokenizer.save(str(draft / "tokenizer.json"))
            said = {"released_batches": True} if self.released_batches else {}
            write_json(draft / "epic.json", {"formulation": self.formulation, "vocabulary": self.vocabulary} | said)
            if card is not None:
                write_text(draft / "README.md", card(sha256_of(draft / "model.safetensors")))

    @classmethod
    def from_pretrained(cls, path, device: str = "cpu") -> "EpicModel":
        """Load a trained model, ready for inference."""
        path = Path(path)
        if not (path / "epic.json").exists():
            raise InputError(f"{path}: not an EPIC checkpoint (no epic.json)")
        facts, config = _facts(path / "epic.json"), read_facts(path / "config.json")
        with naming(path, "config.json"):
            body = body_of(config, path, is_checkpoint=True)
        with naming(path):
            head = head_of({}, body.config, body.words.weight)  # of the right shapes; its values are replaced
            model = cls(facts["formulation"], body, head, tokenizer_of(path))
            refuse_unknown_pieces(model.tokenizer, model.vocabulary, path)
        if facts.get("vocabulary", model.vocabulary) != model.vocabulary:
            said = f"vocabulary {facts['vocabulary']!r:.40}, but {model.vocabulary} in config.json"
            raise InputError(f"{path / 'epic.json'}: {said}; the two are not one model's: make the checkpoint again")
        model.released_batches = facts["released_batches"]
        load_weights(model, path / "model.safetensors", "epic.json or config.json")
        return model.to(device).eval()

    @classmethod
    def from_encoder(cls, path, formulation: str, seed: int) -> "EpicModel":
        """Make an untrained model: the expansion starts from the encoder's masked-language-model head or its word embeddings."""
        body, head = load_pretrained(path)
        torch.manual_seed(seed)
        with naming(path):
            model = cls(formulation, body, head, tokenizer_of(path))
            refuse_unknown_pieces(model.tokenizer, model.vocabulary, path)
        return model


def _facts(path) -> dict:
    """Read epic.json; refuse one that does not say which model this is."""
    facts = {"released_batches": False} | read_facts(path)
    if facts.get("formulation") not in list(FORMULATIONS) or not isinstance(facts["released_batches"], bool):
        said = f"formulation {facts.get('formulation')!r:.40}, released_batches {facts['released_batches']!r:.40}"
        raise InputError(f"{path}: {said}; expected {' or '.join(FORMULATIONS)}, and true or false: make it again")
    return facts


def load_model(checkpoint, compute: dict) -> EpicModel:
    """Load a checkpoint, ready for inference."""
    model = EpicModel.from_pretrained(checkpoint, prepare(compute["device"], compute["threads"], compute["precision"]))
    model.precision = PRECISIONS[compute["precision"]]
    return model
