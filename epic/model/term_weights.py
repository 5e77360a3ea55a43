"""DeepCT's model: a weight for every word-piece of a passage, by one linear unit over the last layer of a BERT.

Weights and names are those of transformers' BertForTokenClassification with one label, in both directions: its checkpoints are
read, and what is written here it reads. A passage has at most `positions` positions, [CLS] and [SEP] included; what is beyond
them is cut, as in DeepCT. A passage without word-pieces is read as ".".
"""

import json
import logging
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from epic.core.files import InputError, replacing, write_json
from epic.core.places import placeless_config
from epic.model.bert import Bert, Packed, copied
from epic.model.body import bert_of, fill, is_plain_bert, kind_of, named_weights
from epic.model.checkpoint import save_weights
from epic.model.facts import naming, read_facts
from epic.model.tokens import refuse_unknown_pieces, special_tokens, tokenizer_of

log = logging.getLogger(__name__)
DROPOUT = 0.1  # before the linear unit, besides BERT's own
SPREAD = 0.02  # of the linear unit's weights at random
CONTINUES = "##"
EMPTY = "."
SEGMENT = 0


class TermWeights(nn.Module):
    """A BERT with one linear unit; forward returns the weights of all word-pieces, one passage after the other."""

    def __init__(self, bert: Bert, tokenizer: Tokenizer, positions: int):
        super().__init__()
        self.bert, self.dropout, self.classifier = bert, nn.Dropout(DROPOUT), nn.Linear(bert.words.embedding_dim, 1)
        nn.init.trunc_normal_(self.classifier.weight, std=SPREAD, a=-2 * SPREAD, b=2 * SPREAD)
        nn.init.zeros_(self.classifier.bias)
        self.tokenizer, self.window = tokenizer, positions - 2
        self.start, self.end = special_tokens(tokenizer)
        self.empty = tokenizer.encode(EMPTY, add_special_tokens=False).ids

    def pieces(self, texts) -> list[list[int]]:
        """Return the word-pieces of each text that are weighted, without [CLS] and [SEP]."""
        found = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [(encoding.ids or self.empty)[: self.window] for encoding in found]

    def tokens(self, pieces: list[int]) -> list[str]:
        """Return word-pieces as texts; ## begins one that continues a word."""
        return [self.tokenizer.id_to_token(piece) for piece in pieces]

    def forward(self, pieces: list[list[int]]) -> Tensor:
        windows = [[self.start, *ids, self.end] for ids in pieces]
        packed = Packed.of(windows, self.classifier.weight.device)
        last = np.cumsum([len(window) for window in windows]) - 1  # (B,) of each [SEP]
        first = np.concatenate([[0], last[:-1] + 1])  # (B,) of each [CLS]
        (inside,) = copied(packed.ids.device, np.delete(np.arange(last[-1] + 1), np.concatenate([first, last])))  # (N,)
        states = self.bert(packed, SEGMENT)[inside]  # (N, e)
        return self.classifier(self.dropout(states)).squeeze(1)  # (N,)

    def save(self, path) -> None:
        """Write a folder that transformers' BertForTokenClassification reads as well."""
        with replacing(path) as draft:
            draft.mkdir()
            config = placeless_config(self.bert.config) | {"architectures": ["BertForTokenClassification"]}
            write_json(draft / "config.json", config | {"id2label": {"0": "weight"}, "label2id": {"weight": 0}})
            save_weights(self, draft / "model.safetensors")
            self.tokenizer.save(str(draft / "tokenizer.json"))


def load_term_weights(folder, positions: int, seed: int | None = None) -> TermWeights:
    """Load the model from a folder: an encoder, whose linear unit starts at random from a seed, or one that has a linear unit.

    seed: None where there is no training, so that a folder without a linear unit is refused.
    """
    config, tokenizer = read_facts(Path(folder) / "config.json"), _tokenizer(folder)
    if not is_plain_bert(config):
        raise InputError(
            f"{Path(folder) / 'config.json'}: the encoder is {kind_of(config)}; DeepCT starts from model_type bert with "
            "hidden_act gelu and absolute positions"
        )
    body = bert_of(config, folder)
    refuse_unknown_pieces(tokenizer, body.config["vocab_size"], folder)
    most = body.config["max_position_embeddings"]
    if positions > most:
        raise InputError(f"{folder}: the encoder has {most} positions, the weighter's max_pieces is {positions}; lower it")
    torch.manual_seed(seed or 0)
    with naming(folder):
        model = TermWeights(body, tokenizer, positions)
    named = named_weights(folder)
    fill(body, named)
    unit = {name: named.get(f"classifier.{name}") for name in ("weight", "bias")}
    of_texts = "BertForSequenceClassification" in (body.config.get("architectures") or [])  # its classifier is for whole texts
    if not of_texts and all(
        unit[name] is not None and unit[name].shape == value.shape for name, value in model.classifier.state_dict().items()
    ):
        model.classifier.load_state_dict(unit)
        log.info("%s: its linear unit is taken over", folder)
    elif seed is None:
        raise InputError(
            f"{folder}: no classifier of tokens with one label, so its weights would be random; name a DeepCT model, or train it"
        )
    return model


def _tokenizer(folder) -> Tokenizer:
    """Return the tokenizer of a folder; refuse one whose words cannot be joined again."""
    tokenizer = tokenizer_of(folder)
    kind = json.loads(tokenizer.to_str())["model"]
    if kind.get("type") != "WordPiece" or kind.get("continuing_subword_prefix") != CONTINUES:
        raise InputError(f"{folder}: DeepCT joins word-pieces that continue a word with {CONTINUES}; this tokenizer has none")
    return tokenizer
