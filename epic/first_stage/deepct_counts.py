"""From the weights of word-pieces to term frequencies, and to the text that is indexed: each word as often as it weighs.

As in DeepCT's script `bert_term_sample_to_json.py`: word-pieces are joined to words, a word has the weight of its first piece,
negative weights are 0, and the frequency is scale * weight, or scale * sqrt(weight), rounded half to even. Weights come with
five decimals there, since they went through a text file, so that ties do occur. A word of frequency 0 goes, or gets 1; a
word that occurs several times has the highest of its frequencies.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

CONTINUES = "##"  # a word-piece that is not the first of its word
UNREAL = ("[CLS]", "[SEP]", "[PAD]")
DECIMALS = 5


class Form(NamedTuple):
    """The way from weights to term frequencies."""

    scale: float  # the frequency of a word of weight 1
    form: str  # linear or sqrt
    keep_all: bool  # words of frequency 0 get 1; otherwise they go


def first_pieces(pieces: list[str]) -> list[int]:
    """Return the places of the word-pieces that are the first of a word."""
    return [place for place, piece in enumerate(pieces) if not place or not piece.startswith(CONTINUES)]


def words_of(pieces: list[str]) -> list[str]:
    """Join word-pieces to words: as many as there are first pieces."""
    places = [*first_pieces(pieces), len(pieces)]
    return [
        "".join([pieces[start], *(piece.removeprefix(CONTINUES) for piece in pieces[start + 1 : stop])])
        for start, stop in pairwise(places)
    ]


def frequencies(pieces: list[str], weights: list[float], form: Form) -> dict[str, int]:
    """Return how often each word stands in the text that is indexed, in the order in which words come; weights: of all pieces."""
    found: dict[str, int] = {}
    of_words = np.array([float(f"{weights[place]:.{DECIMALS}f}") for place in first_pieces(pieces)])  # (w,)
    of_words = np.maximum(of_words, 0.0)  # (w,)
    scaled = np.round(form.scale * (np.sqrt(of_words) if form.form == "sqrt" else of_words))  # (w,)
    for word, frequency in zip(words_of(pieces), scaled.astype(np.int64).tolist(), strict=True):
        if word not in UNREAL and (frequency >= 1 or form.keep_all):
            found[word] = max(frequency, 1, found.get(word, 0))
    return found


def rewritten(pieces: list[str], weights: list[float], form: Form) -> str:
    """Return a passage with each word as often as it weighs; empty if no word is left."""
    counts = frequencies(pieces, weights, form)
    return " ".join(word for word, count in counts.items() for _ in range(count))
