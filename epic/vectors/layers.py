"""Layers of vectors: a number of kept terms is a folder of plain rows, or such a folder and what extends it.

Ranks are by (float16 value descending, term id ascending). A layer holds all ranks from 1 on where the next smaller number is
at most a quarter of its own: the few terms stand there twice, and are found in one file. Else it holds only the ranks beyond
the next smaller number, and is read together with that layer. So 100, 1000 and 2000 terms are ranks 1-100, 1-1000, 1001-2000.

The arrays are in `layer_rows`: plans need only the numbers.
"""

from itertools import pairwise
from typing import NamedTuple

FEW = 4  # a layer is whole if it has at least so many times the terms of the next smaller one


class Layer(NamedTuple):
    """Ranks extends + 1 to keep of every vector, in a folder of their own, or in the store itself if it has no layers."""

    keep: int
    extends: int = 0
    folder: str = ""

    @property
    def width(self) -> int:
        """Terms in a row."""
        return self.keep - self.extends


def planned(keeps, vocabulary: int) -> list[Layer]:
    """Return the layers for some numbers of kept terms; none is larger than the vocabulary."""
    numbers = sorted({min(keep, vocabulary) for keep in keeps})
    return [Layer(keep, 0 if FEW * smaller <= keep else smaller, str(keep)) for smaller, keep in pairwise([0, *numbers])]


def enough(layers, keep: int) -> int:
    """Return the smallest number of kept terms among the layers from which `keep` terms can be taken."""
    return min(layer.keep for layer in layers if layer.keep >= keep)


def chain(layers, keep: int) -> tuple[Layer, ...]:
    """Return the layers that hold exactly ranks 1 to `keep` together, the first ranks first; none if there is no such layer."""
    found = next((layer for layer in layers if layer.keep == keep), None)
    if found is None:
        return ()
    return (*chain(layers, found.extends), found) if found.extends else (found,)
