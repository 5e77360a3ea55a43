"""Duet v2 (Mitra and Craswell, 2019): exact matches of rare words, and learned vectors of words, in one score.

Two networks read a query of at most Q words and a passage of at most P; a third adds them up:
    local        where the words of the query stand in the passage, each weighted by its idf
    distributed  whether passage and query speak of the same things, window by window
Sizes as published: P 200 words of a passage, Q 20 of a query, D 300 dimensions of a word, H 300 hidden, windows of 3 words,
W = 99 pools of 100 windows; 33,299,701 weights with 71,486 words. A ranker is the sum of several members, which differ by the
seed they start from and the triples they saw (`epic.training.members`).

Texts are word numbers: 0 is a word outside of the vocabulary, and all of these share a row of the embedding, zero at the
start. Padding is masked, so it is a vector of zeros and stays one. All positions behind the last word of the longest passage
look alike: they are computed once and repeated, which changes no score.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, relu

from epic.core.files import InputError
from epic.corpus.vocabulary import Vocabulary, pretrained
from epic.rankers import pairs
from epic.rankers.pairs import NEW_LAYERS, PairRanker, create, load, pair_scores, save, score, score_run, timed  # noqa: F401

PRECOMPUTES = False
WORDS = True
STAGES = {"beside": [["retrieve"]], "after": ["load", "score"]}
SETTINGS = {
    "properties": {
        "encoder": {"type": "null", "description": "Duet knows words, not word-pieces: its encoder is null"},
        "start": {"type": "null", "description": "no trained weights of Duet are published; start is null"},
        "settings": {
            "type": "object",
            "additionalProperties": False,
            "required": [
                "members", "hidden", "query_words", "passage_words", "window", "pool", "dropout", "dimensions", "words",
            ],
            "properties": {
                "members": {"type": "integer", "minimum": 1, "maximum": 64, "description": "networks, whose scores are added up"},
                "hidden": {"type": "integer", "minimum": 1, "maximum": 4096},
                "query_words": {"type": "integer", "minimum": 1, "maximum": 512},
                "passage_words": {"type": "integer", "minimum": 1, "maximum": 4096},
                "window": {"type": "integer", "minimum": 1, "maximum": 512, "description": "words of a convolution"},
                "pool": {"type": "integer", "minimum": 1, "maximum": 4096, "description": "windows of a passage's pool"},
                "dropout": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
                "dimensions": {"type": "integer", "minimum": 1, "maximum": 4096, "description": "dimensions of a word"},
                "words": {"$ref": "#/$defs/words"},
            },
        },
    }
}  # fmt: skip
FITS = [
    {"at": "query_words", "holds": "query_words >= window",
     "says": "a query of {query_words} words has no window of {window}; raise query_words"},
    {"at": "passage_words", "holds": "passage_words >= window + pool - 1",
     "says": "a passage of {passage_words} words has no pool of {pool} windows of {window} words; raise passage_words to "
     "{window + pool - 1} or more, or lower pool"},
]  # fmt: skip
PADDING = -1
TOGETHER = 64  # pairs; twice as many in training, where each lot costs a gradient of the whole embedding
SCALE = 0.1  # of the score, as published
SPREAD = 0.4  # standard deviation of word vectors where no pre-trained ones are named


class Sizes(NamedTuple):
    """The sizes of a network, and those that follow from them."""

    passage_words: int  # P
    query_words: int  # Q
    dimensions: int  # D
    hidden: int  # H
    window: int
    pool: int

    @classmethod
    def of(cls, settings: dict) -> "Sizes":
        """Read the sizes off a model's settings, which are known to fit together (FITS)."""
        return cls(**{name: settings[name] for name in cls._fields})

    @property
    def pools(self) -> int:
        """Return W, the number of pools of a passage."""
        return self.passage_words - self.window + 1 - self.pool + 1


class Words:
    """The words of texts by number: those of the vocabulary from 1, then those that only have an idf; 0 is any other word."""

    def __init__(self, folder):
        self.folder, self.vocabulary, self.pretrained = folder, Vocabulary.read(folder), pretrained(folder)
        if self.vocabulary.idf is None:
            raise InputError(f"{folder}: no word has an idf, and Duet weights matches by it; name settings.words.idf, or null")
        self.idf = torch.tensor([0.0, *self.vocabulary.idf])  # (V+1 and more,)

    def numbers(self, text: str, limit: int) -> list[int]:
        """Return the numbers of a text's first words."""
        return [number + 1 for number in self.vocabulary.numbers(text, limit, beyond=True)]

    def vectors(self, dimensions: int) -> Tensor:
        """Return the vectors that training starts from, row 0 for words without one: pre-trained, zeros where a word has none,
        or random where none are named."""
        if self.pretrained is None:
            made = torch.zeros if pairs.is_checkpoint(self.folder) else torch.randn  # a checkpoint's own weights follow
            vectors = SPREAD * made(len(self.vocabulary), dimensions)  # (V, D)
        else:
            vectors = torch.from_numpy(self.pretrained[0])  # (V, D)
        if vectors.shape[1] != dimensions:
            raise InputError(
                f"{self.folder}: the vectors have {vectors.shape[1]} dimensions, settings.dimensions is {dimensions}"
            )
        return torch.cat([torch.zeros(1, dimensions), vectors])  # (V+1, D)


class Batch(NamedTuple):
    """Pairs as tensors; queries that are asked several times stand there once."""

    queries: Tensor  # (q, Q) word numbers, then padding
    asked: Tensor  # (n,) place of each pair's query
    passages: Tensor  # (n, L): L is such that the last window of the longest passage has no word, or P

    @classmethod
    def of(cls, queries: list[list[int]], passages: list[list[int]], sizes: Sizes, device) -> "Batch":
        """Pad the texts of pairs."""
        places: dict[tuple[int, ...], int] = {}
        asked = [places.setdefault(tuple(query), len(places)) for query in queries]
        length = min(max(map(len, passages), default=0) + sizes.window, sizes.passage_words)
        return cls(
            torch.tensor([padded(query, sizes.query_words) for query in places], device=device),
            torch.tensor(asked, device=device),
            torch.tensor([padded(passage, length) for passage in passages], device=device),
        )


def padded(words, length: int) -> list[int]:
    """Return word numbers, and padding behind them."""
    return [*words, *[PADDING] * (length - len(words))]


class OfWords(PairRanker):
    """A ranker that knows texts as word numbers; it has `sizes`, and `words` that number them."""

    FILES = Vocabulary.files

    def query(self, text: str) -> list[int]:
        """Return the numbers of a query's first words."""
        return self.words.numbers(text, self.sizes.query_words)

    def passage(self, text: str, limit: int | None = None) -> list[int]:
        """Return the numbers of a passage's first words: as many as the network reads, or `limit` if that is less."""
        most = self.sizes.passage_words
        return self.words.numbers(text, most if limit is None else min(limit, most))

    def scores(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return scores (n,) of n pairs; some of like lengths at a time, since all are padded to the longest."""
        order = sorted(range(len(passages)), key=lambda pair: len(passages[pair]))
        device, found, lot = next(self.parameters()).device, [], (1 + self.training) * TOGETHER
        for start in range(0, len(order), lot):
            some = order[start : start + lot]
            batch = Batch.of([queries[pair] for pair in some], [passages[pair] for pair in some], self.sizes, device)
            found.append(self(batch))  # (at most a lot,)
        places = sorted(range(len(order)), key=order.__getitem__)
        return torch.cat(found)[torch.tensor(places, device=device)]  # (n,)


class Ranker(OfWords):
    """The sum of some members."""

    def __init__(self, settings: dict, folder):
        super().__init__()
        self.settings, self.sizes, self.words = settings, Sizes.of(settings), Words(folder)
        self.members = nn.ModuleList(self.member() for _ in range(settings["members"]))

    def member(self) -> "Duet":
        """Make a member as it is before training, at random."""
        return Duet(self.settings, self.words)

    def forward(self, batch: Batch) -> Tensor:
        """Return the scores of n pairs: the sums of the members'."""
        return sum(member(batch) for member in self.members)  # (n,)


class Duet(OfWords):
    """One network: a member."""

    def __init__(self, settings: dict, words: Words):
        super().__init__()
        self.sizes, self.words = Sizes.of(settings), words
        passage_words, query_words, dimensions, hidden, window, _ = self.sizes
        self.register_buffer("idf", words.idf.clone(), persistent=False)  # (V+1 and more,)
        self.embedding = nn.Embedding.from_pretrained(words.vectors(dimensions), freeze=False)  # (V+1, D)
        self.positions = nn.Conv1d(passage_words, hidden, 1)
        self.local_layers = layers(hidden * query_words, hidden, settings["dropout"])
        self.query_windows, self.query_layer = nn.Conv1d(dimensions, hidden, window), nn.Linear(hidden, hidden)
        self.passage_windows, self.pool_layer = nn.Conv1d(dimensions, hidden, window), nn.Conv1d(hidden, hidden, 1)
        self.distributed_layers = layers(hidden * self.sizes.pools, hidden, settings["dropout"])
        self.combined_layers = layers(hidden, hidden, settings["dropout"])[1:]  # no dropout in front: it has been
        self.last = nn.Linear(hidden, 1)

    def forward(self, batch: Batch) -> Tensor:
        """Return the scores of n pairs."""
        queries = batch.queries[batch.asked]  # (n, Q)
        added = self.local(queries, batch.passages) + self.distributed(batch)  # (n, H)
        x = self.combined_layers(added)  # (n, H)
        with torch.autocast(x.device.type, enabled=False):  # a score of 8 bits would tie passages that differ
            return SCALE * relu(self.last(x.to(self.last.weight.dtype))).squeeze(1)  # (n,)

    def local(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Look for the words of the query in the passage: where they match exactly, the idf of the word; else 0."""
        matches = passages[:, :, None] == queries[:, None, :]  # (n, L, Q); padding matches too, and has no idf
        weights = self.idf[queries.clamp(min=0)]  # (n, Q)
        x = matches * weights[:, None, :]  # (n, L, Q)
        kernel = self.positions.weight[:, : passages.shape[1]]  # (H, L, 1): positions of the passage are channels
        x = relu(conv1d(x, kernel, self.positions.bias))  # (n, H, Q)
        return self.local_layers(x.flatten(1))  # (n, H)

    def distributed(self, batch: Batch) -> Tensor:
        """Compare the vector of the query with that of each pool of the passage, element by element."""
        q = self.query_vectors(batch.queries)[batch.asked]  # (n, H)
        d = self.pool_vectors(batch.passages)  # (n, H, W)
        return self.distributed_layers((q[:, :, None] * d).flatten(1))  # (n, H)

    def query_vectors(self, queries: Tensor) -> Tensor:
        """Return a vector of each query: the largest value of any window."""
        x = relu(self.query_windows(self.embedded(queries)))  # (q, H, windows)
        return relu(self.query_layer(x.amax(2)))  # (q, H)

    def pool_vectors(self, passages: Tensor) -> Tensor:
        """Return a vector of each pool of each passage: the largest value of any of its windows."""
        windows, pools = self.sizes.passage_words - self.sizes.window + 1, self.sizes.pools
        x = relu(self.passage_windows(self.embedded(passages)))  # (n, H, windows up to one without a word)
        x = repeated(x, min(windows, x.shape[2] + self.sizes.pool))  # (n, H, windows up to one pool without a word)
        x = pooled(x, self.sizes.pool)  # (n, H, pools up to one without a word)
        return repeated(relu(self.pool_layer(x)), pools)  # (n, H, W)

    def embedded(self, words: Tensor) -> Tensor:
        """Return the vectors of words, those of padding masked, as the channels of a convolution."""
        known = (words >= 0) & (words < len(self.embedding.weight))
        x = self.embedding(words * known)  # (n, L, D)
        return (x * (words >= 0)[:, :, None]).transpose(1, 2)  # (n, D, L)


def layers(inputs: int, hidden: int, dropout: float) -> nn.Sequential:
    """Return two layers with ReLU, dropout around them."""
    first, second = nn.Linear(inputs, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(nn.Dropout(dropout), first, nn.ReLU(), nn.Dropout(dropout), second, nn.ReLU(), nn.Dropout(dropout))


def repeated(x: Tensor, size: int) -> Tensor:
    """Repeat the last column until there are `size`."""
    return torch.cat([x, x[:, :, -1:].expand(-1, -1, size - x.shape[2])], 2) if size > x.shape[2] else x


def pooled(x: Tensor, width: int) -> Tensor:
    """Return the maximum of every `width` neighbours.

    As many pools as they are wide have a window in common, so each is the larger of two running maxima, on both sides of it.
    Torch's max_pool1d takes three times as long in training, and adds up gradients on a card in no fixed order.
    """
    found, pools = [], x.shape[2] - width + 1
    for start in range(0, pools, width):
        count, common = min(width, pools - start), start + width - 1
        since = x[:, :, start : common + 1].flip(2).cummax(2).values.flip(2)  # (n, H, width)
        until = x[:, :, common : common + count].cummax(2).values  # (n, H, count)
        found.append(torch.maximum(since[:, :, :count], until))  # (n, H, count)
    return torch.cat(found, 2)  # (n, H, pools)


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    text = "Passage re-ranking by Duet v2: exact matches of words weighted by idf, and learned vectors of words, in one score."
    return pairs.card(model) | {"title": "Duet v2", "text": text}
