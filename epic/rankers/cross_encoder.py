"""The cross-encoder: BERT reads query and passage together (Nogueira and Cho, Passage Re-ranking with BERT, 2019).

    [CLS] query [SEP] passage [SEP]        segment 0 up to the first [SEP], 1 after it
    pooled = tanh(W f_[CLS] + b)           BERT's own pooler
    score  = log P(relevant)               of a classifier with two classes, the second is "relevant"

Weights have the names that transformers gives them in BertForSequenceClassification, so that one of these can be loaded, and
what is saved here can be loaded there. Pairs run one below the other, without padding (`epic.model.bert`).
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from epic.core.files import InputError
from epic.model.bert import Named, Packed, copied
from epic.model.body import bert_of, fill, is_plain_bert, kind_of, named_weights
from epic.model.facts import read_facts
from epic.model.products import Linear
from epic.model.shapes import difference, shapes_of
from epic.model.tokens import refuse_unknown_pieces, special_tokens, tokenizer_of
from epic.rankers.pairs import PairRanker, is_checkpoint, load, numbered_examples, save, score, score_run, timed  # noqa: F401
from epic.rankers.pairs import create as created

PRECOMPUTES = False
STAGES = {"beside": [["retrieve"]], "after": ["load", "score"]}
SETTINGS = {
    "properties": {
        "settings": {
            "type": "object",
            "additionalProperties": False,
            "required": ["query_pieces", "total_pieces"],
            "properties": {
                "query_pieces": {"type": "integer", "minimum": 1, "description": "a query is cut after so many word-pieces"},
                "total_pieces": {
                    "type": "integer",
                    "minimum": 4,
                    "description": "[CLS], query, [SEP], passage and [SEP] have so many word-pieces in all; the passage is cut",
                },
            },
        },
        "encoder": {"type": "object", "description": "a cross-encoder starts from a pre-trained encoder"},
        "start": {"type": "null", "description": "the weights of a cross-encoder are those of its encoder; start is null"},
    }
}
FITS = [
    {"at": "query_pieces", "holds": "query_pieces + 3 < total_pieces",
     "says": "of {total_pieces} word-pieces in all, [CLS], a query of {query_pieces} and two [SEP] leave none for a passage; "
     "lower query_pieces or raise total_pieces"},
    {"at": "total_pieces", "holds": "total_pieces <= encoder.max_position_embeddings",
     "says": "{total_pieces} word-pieces are more than the {encoder.max_position_embeddings} positions of the encoder; lower it"},
    {"at": "encoder", "holds": "encoder.type_vocab_size >= 2",
     "says": "query and passage are two segments, but the encoder has {encoder.type_vocab_size} (type_vocab_size); "
     "name another encoder"},
]  # fmt: skip
POOLER, CLASSIFIER = "bert.pooler.", "classifier."
NEW_LAYERS = (POOLER, CLASSIFIER)  # those of them that the encoder's files do not have; a ranker knows which
SPREAD = 0.02  # standard deviation of new weights, as in BERT
AROUND = 3  # [CLS] and two [SEP]


class Ranker(PairRanker):
    """BERT, its pooler, and a classifier with two classes."""

    def __init__(self, settings: dict, folder):
        super().__init__()
        self.query_pieces, self.total_pieces = settings["query_pieces"], settings["total_pieces"]
        self.bert = bert_of(_config(folder), folder)
        self.tokenizer, config = tokenizer_of(folder), self.bert.config
        refuse_unknown_pieces(self.tokenizer, config["vocab_size"], folder)
        self.start, self.end = special_tokens(self.tokenizer)
        size, dropout = config["hidden_size"], config.get("classifier_dropout")
        named = {} if is_checkpoint(folder) else named_weights(folder)
        if named:
            fill(self.bert, named)
        self.bert.pooler = Named(dense=_new(Linear(size, size)))
        self.dropout = nn.Dropout(config["hidden_dropout_prob"] if dropout is None else dropout)
        self.classifier = _new(nn.Linear(size, 2))
        self.NEW_LAYERS = () if is_checkpoint(folder) else self._take(named, config, folder)

    def _take(self, named: dict[str, Tensor], config: dict, folder) -> tuple[str, ...]:
        """Take over pooler and classifier from an encoder's files; return the prefixes of those that stay new."""
        parts = {POOLER: ("pooler.dense", self.bert.pooler.dense), CLASSIFIER: ("classifier", self.classifier)}
        if "BertForSequenceClassification" not in (config.get("architectures") or ["BertForSequenceClassification"]):
            parts.pop(CLASSIFIER)  # one of another kind, of tokens say
        elif "classifier.bias" in named and (labels := named["classifier.bias"].numel()) != 2:
            raise InputError(f"{folder}: its classifier has {labels} labels; a cross-encoder needs 2, the second is relevant")
        for prefix, (name, layer) in list(parts.items()):
            weights = {kind: named[f"{name}.{kind}"] for kind in ("weight", "bias") if f"{name}.{kind}" in named}
            if not weights:
                parts.pop(prefix)
            elif odd := difference(shapes_of(layer.state_dict()), shapes_of(weights)):
                raise InputError(f"{folder}: {name} in model.safetensors {odd}; fetch it anew, or name another encoder")
            else:
                layer.load_state_dict(weights)
        return tuple(prefix for prefix in NEW_LAYERS if prefix not in parts)

    def query(self, text: str) -> list[int]:
        """Return the word-pieces of a query, as many as it may have."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids[: self.query_pieces]

    def passage(self, text: str, limit: int | None = None) -> list[int]:
        """Return the word-pieces of a passage, as many as fit beside an empty query."""
        return self.passages([text], limit)[0]

    def passages(self, texts: list[str], limit: int | None = None) -> list[list[int]]:
        """Return the same of many passages."""
        most = min(self.total_pieces - AROUND, self.total_pieces if limit is None else limit)
        return [found.ids[:most] for found in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def scores(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return log P(relevant) of n pairs, (n,)."""
        return logsigmoid(self.odds(queries, passages))  # log_softmax(logits)[:, 1], however large they are

    def odds(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return log P(relevant) - log P(not relevant) of n pairs, (n,)."""
        logits = self.logits(queries, passages)  # (n, 2)
        return logits[:, 1] - logits[:, 0]  # (n,)

    def logits(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return the logits of both classes of n pairs, (n, 2)."""
        windows = [self._window(*pair) for pair in zip(queries, passages, strict=True)]
        device = self.classifier.weight.device
        packed = Packed.of(windows, device)
        segments, first = copied(device, *_segments([len(query) + 2 for query in queries], packed.padding.lengths))  # (N,), (n,)
        pooled = torch.tanh(self.bert.pooler.dense(self.bert.first(packed, segments, first)))  # (n, e)
        with torch.autocast(device.type, enabled=False):  # two rows cost nothing, and their difference is the score
            return self.classifier(self.dropout(pooled).to(self.classifier.weight.dtype))  # (n, 2)

    def _window(self, query: list[int], passage: list[int]) -> list[int]:
        cut = passage[: self.total_pieces - len(query) - AROUND]
        return [self.start, *query, self.end, *cut, self.end]


def _segments(query_parts: list[int], lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return segment ids (N,) of n pairs, 0 in their query parts and 1 after them, and where each pair begins (n,)."""
    ends = np.cumsum(lengths)  # (n,)
    first = ends - lengths  # (n,)
    places = np.arange(ends[-1]) - np.repeat(first, lengths)  # (N,) within the pair
    return (places >= np.repeat(query_parts, lengths)).astype(np.int64), first


def _config(folder) -> dict:
    """Return config.json of an encoder; refuse one that is no BERT of our own."""
    if folder is None:
        raise InputError("a cross-encoder needs an encoder; name one in the experiment's models")
    config = read_facts(Path(folder) / "config.json")
    if not is_plain_bert(config):
        raise InputError(
            f"{Path(folder) / 'config.json'}: the encoder is {kind_of(config)}; a cross-encoder needs model_type bert with "
            "hidden_act gelu and absolute positions"
        )
    return config


def _new(layer: nn.Linear) -> nn.Linear:
    """Start a layer as BERT does."""
    nn.init.normal_(layer.weight, std=SPREAD)
    nn.init.zeros_(layer.bias)
    return layer


def create(encoder, model: dict, start, device: str):
    """Make a cross-encoder before training; one that will not be trained needs a classifier from its encoder."""
    ranker = created(encoder, model, start, device)
    if model["loss"] is None and ranker.NEW_LAYERS:
        raise InputError(
            f"{model['id']}: the encoder has no {' and no '.join(name.strip('.') for name in ranker.NEW_LAYERS)}; give the model "
            "a loss to train them, or an encoder that is a BertForSequenceClassification"
        )
    return ranker


def pair_scores(ranker, examples: list, limit: int | None) -> Tensor:
    """Return log-odds of the relevant and the other passage of each example, for the loss `binary-cross-entropy`."""
    return ranker.odds(*numbered_examples(ranker, examples, limit)).view(-1, 2)  # (B, 2)


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    settings = model["settings"]
    return {
        "title": "Cross-encoder: BERT re-ranking",
        "text": 'BERT reads `[CLS] query [SEP] passage [SEP]`; the score is the log-probability of the class "relevant" '
        f"(Nogueira and Cho, 2019). Queries are cut after {settings['query_pieces']} word-pieces, passages so that a pair has "
        f"at most {settings['total_pieces']}. The weights have the names of transformers' BertForSequenceClassification.",
        "use": [
            "from epic import load_ranker",
            "",
            'ranker = load_ranker("this folder")',
            'ranker.score("a query", ["a passage", "another"])  # log-probabilities, one a passage',
        ],
    }
