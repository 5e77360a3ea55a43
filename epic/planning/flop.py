"""Floating-point operations of an encoder: two for each weight and word-piece, and attention; norms are left out."""

from typing import NamedTuple

WORD_PIECES = 81  # of a passage: the mean of the 15,495 passages of TREC DL 2020's pool, counted; the paper has 73.1 "terms"
PASSAGE = WORD_PIECES + 2  # with [CLS] and [SEP]
QUERY = 10  # the paper: 7.5 terms
BACKWARD = 3  # times forward: a step's gradients take twice as much again


class Shape(NamedTuple):
    """The sizes of an encoder."""

    layers: int
    width: int
    inner: int
    vocabulary: int


def body(shape: Shape, tokens: float) -> float:
    """Return the operations for one text: four matrices of attention and two of the feed-forward layer, scores and their use."""
    weights = shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.inner)
    return tokens * 2 * weights + shape.layers * 4 * tokens**2 * shape.width


def expansion(shape: Shape, tokens: float) -> float:
    """Return the operations of one text's word-pieces times the whole vocabulary (equation 3)."""
    return 2 * tokens * shape.width * shape.vocabulary


def passage(shape: Shape, tokens: float = PASSAGE) -> float:
    """Return the operations for one passage's vector."""
    return body(shape, tokens) + expansion(shape, tokens)


def reading(shape: Shape, tokens: float = PASSAGE) -> float:
    """Return the operations of a generator for one passage: its encoder, and what each layer of its decoder reads of that."""
    return body(shape, tokens) + tokens * 2 * shape.layers * 2 * shape.width**2


def writing(shape: Shape, steps: float, tokens: float = PASSAGE) -> float:
    """Return those for one query of so many steps: six matrices of attention, two of the feed-forward layer, the vocabulary."""
    weights = shape.layers * (6 * shape.width**2 + 2 * shape.width * shape.inner) + shape.width * shape.vocabulary
    return steps * (2 * weights + shape.layers * 4 * (tokens + steps / 2) * shape.width)


def triple(shape: Shape) -> float:
    """Return the operations of a training step for one triple; the expansion at a query's few terms does not count."""
    return BACKWARD * (2 * body(shape, PASSAGE) + body(shape, QUERY))


def triple_of_the_authors(shape: Shape) -> float:
    """Return those of the released code, which multiplies the whole vocabulary in training, too."""
    return BACKWARD * (2 * passage(shape) + body(shape, QUERY))
