"""TK as a family: words and passages in their own context, matched by kernels (`epic.rankers.tk_model` has the equations).

A text that has no word has a score, too. A query of 0 words scores 0 with every passage. A passage of 0 words has no match at
all: the branch of logarithms has s * log2(1e-10) for each query word and kernel, the other branch 0.
"""

import logging

import numpy as np
import torch
from torch import Tensor

from epic.core.files import InputError
from epic.corpus.documents import open_documents
from epic.corpus.text_files import read_queries
from epic.corpus.vocabulary import Vocabulary, pretrained
from epic.rankers.pairs import PairRanker, create, is_checkpoint, load, pair_scores, save, timed  # noqa: F401 - the family's
from epic.rankers.tk_model import TK
from epic.rankers.tk_scores import score

log = logging.getLogger(__name__)
PRECOMPUTES = False
WORDS = True  # its models need a vocabulary of words
STAGES = {"beside": [["retrieve"]], "after": ["load", "score"]}
SETTINGS = {
    "properties": {
        "settings": {
            "type": "object",
            "additionalProperties": False,
            "required": [
                "layers", "heads", "projection", "feed_forward", "dimensions", "query_words", "passage_words", "words",
            ],
            "properties": {
                "layers": {"type": "integer", "minimum": 1, "maximum": 12},
                "heads": {"enum": [1, 2, 4, 8, 16, 32], "description": "heads of self-attention, a power of two"},
                "projection": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1024,
                    "description": "dimensions of all heads together: a multiple of heads",
                },
                "feed_forward": {"type": "integer", "minimum": 1, "maximum": 4096},
                "dimensions": {
                    "type": "integer",
                    "minimum": 2,
                    "maximum": 1024,
                    "description": "dimensions of a word: half of them get sines, half cosines of its position",
                },
                "query_words": {"type": "integer", "minimum": 1, "maximum": 200},
                "passage_words": {"type": "integer", "minimum": 1, "maximum": 2000},
                "words": {
                    "$ref": "#/$defs/words",
                    "properties": {"idf": {"type": "null", "description": "TK has no use for idf"}},
                },
            },
        },
        "encoder": {"type": "null", "description": "TK knows words, and starts from their vectors, if any: it has no encoder"},
        "start": {"type": "null", "description": "no weights of TK were published"},
    },
}  # fmt: skip
FITS = [  # AllenNLP's encoder refuses the others, or has no scale for them
    {"at": "projection", "holds": "projection % heads == 0",
     "says": "heads ({heads}) must divide projection ({projection}): each head has an equal part of it; change one of them"},
    {"at": "dimensions", "holds": "dimensions % 2 == 0",
     "says": "dimensions ({dimensions}) must be even: half of them get sines of a word's position, half cosines; add one"},
    {"at": "dimensions", "holds": "dimensions >= heads",
     "says": "dimensions ({dimensions}) must be no fewer than heads ({heads}); raise dimensions"},
]  # fmt: skip
NEW_LAYERS = ("tk.kernels.log_sums",)  # in the authors' code, too: the other layers that start at random have the usual rate
SPARSE = ("tk.words",)  # gradients of the words that a batch has, and no others
PADDING, UNKNOWN = 0, 1  # of the authors' vocabulary; words come after them


class Ranker(PairRanker):
    """TK with its vocabulary. Words are trained, unknown words share a vector, and only padding is masked."""

    FILES = Vocabulary.files

    def __init__(self, settings: dict, folder):
        super().__init__()
        if folder is None:
            raise InputError("a model of the family tk needs a vocabulary of words, and was given none")
        self.vocabulary, self.limits = Vocabulary.read(folder), (settings["query_words"], settings["passage_words"])
        shape = {key: settings[key] for key in ("layers", "heads", "projection", "feed_forward")}
        size = UNKNOWN + 1 + len(self.vocabulary.words), settings["dimensions"]
        vectors = torch.empty(size) if is_checkpoint(folder) else first_vectors(size, pretrained(folder), folder)  # (n+2, e)
        self.tk = TK(vectors, max(self.limits), **shape)

    def query(self, text: str) -> list[int]:
        """Return the numbers of a query's first words."""
        return self._numbers(text, self.limits[0])

    def passage(self, text: str, limit: int | None = None) -> list[int]:
        """Return the numbers of a passage's first words, at most `limit` of them."""
        return self._numbers(text, self.limits[1] if limit is None else min(limit, self.limits[1]))

    def _numbers(self, text: str, limit: int) -> list[int]:
        return [UNKNOWN + 1 + number for number in self.vocabulary.numbers(text, limit)]  # an unknown word has number -1

    def scores(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return scores (n,) of n pairs; a text that is in several is contextualised once."""
        batches = (self.tk.terms(texts).padded().of(places) for texts, places in (once(queries), once(passages)))
        return self.tk.similarities(*batches)  # (n,)


def once(texts: list[list[int]]) -> tuple[list[list[int]], list[int]]:
    """Return texts without repetition, and for each of those given its number among them."""
    numbers: dict[tuple, int] = {}
    places = [numbers.setdefault(tuple(text), len(numbers)) for text in texts]
    return [list(text) for text in numbers], places


def first_vectors(size: tuple[int, int], found: tuple[np.ndarray, np.ndarray] | None, folder) -> Tensor:
    """Return the vectors (n+2, e) that words start from: pre-trained ones where there are any, the others drawn at random.

    The draws are normal: with the mean and deviation of all numbers of the pre-trained vectors, as AllenNLP does it; where no
    vectors are named, with mean 0 and deviation 1. Padding is 0.
    """
    if found is None:
        vectors = torch.randn(size)  # (n+2, e)
    else:
        values, known = found  # (n, e), (n,)
        if values.shape[1] != size[1]:
            raise InputError(
                f"{folder}: vectors of {values.shape[1]} dimensions; settings.dimensions is {size[1]}: set it to that"
            )
        if not known.any():
            raise InputError(f"{folder}: no word has a pre-trained vector; name vectors of this language, or null")
        mean, deviation = float(values[known].mean()), float(values[known].std())
        vectors = torch.randn(size) * deviation + mean  # (n+2, e)
        vectors[UNKNOWN + 1 :][torch.from_numpy(known)] = torch.from_numpy(values[known]).type(vectors.dtype)
        log.info("%d of %d words start from a pre-trained vector", known.sum(), len(known))
    vectors[PADDING] = 0
    return vectors


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    layers = model["settings"]["layers"]
    return {
        "title": f"TK with {layers} layer{'s' if layers > 1 else ''}",
        "text": "Passage re-ranking by Transformer-Kernel (ECAI 2020): contextualised words, matched by kernels.",
        "use": ["from epic import load_ranker", "", 'load_ranker("this folder").score("a query", ["a passage", "another"])'],
    }


def score_run(run: dict, files, compute: dict, budget: int) -> dict:
    """Return the run with TK's scores, from an experiment's files."""
    return score(load(files.checkpoint, compute), run, read_queries(files.queries), open_documents(files.manifest), budget)
