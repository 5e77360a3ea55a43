"""The smallest family that knows words: a weight for each word of its vocabulary, summed over the words that a pair shares."""

import torch

from epic.corpus.vocabulary import Vocabulary
from epic.rankers.pairs import NEW_LAYERS, card, create, load, pair_scores, save, score, score_run, timed  # noqa: F401

PRECOMPUTES = False
WORDS = True
STAGES = {"beside": [["retrieve"]], "after": ["load", "score"]}
SETTINGS = {
    "properties": {
        "settings": {
            "additionalProperties": False,
            "required": ["words", "dimensions"],
            "properties": {"words": {"type": "object"}, "dimensions": {"type": "integer"}},
        }
    }
}


class Ranker(torch.nn.Module):
    """A weight for each word."""

    FILES = Vocabulary.files

    def __init__(self, settings, folder):
        super().__init__()
        self.vocabulary = Vocabulary.read(folder)
        self.weight = torch.nn.Parameter(torch.ones(len(self.vocabulary)))

    def pairs(self, queries, passages):
        """Return the sum of the weights of shared words (n,)."""
        numbers = lambda text: set(self.vocabulary.numbers(text)) - {-1}  # noqa: E731
        shared = [sorted(numbers(query) & numbers(passage)) for query, passage in zip(queries, passages, strict=True)]
        return torch.stack([self.weight[words].sum() for words in shared])  # (n,)
