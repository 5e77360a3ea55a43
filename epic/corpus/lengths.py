"""Lengths of texts, summed up exactly, so that shards can be added in any order."""

import math
from collections.abc import Iterable


class Lengths:
    """Number, sum and sum of squares of some lengths."""

    def __init__(self, count: int = 0, total: int = 0, squares: int = 0):
        self.count, self.total, self.squares = count, total, squares

    def add(self, lengths: Iterable[int]) -> None:
        """Count more lengths."""
        for length in lengths:
            self.count, self.total, self.squares = self.count + 1, self.total + length, self.squares + length * length

    def __add__(self, other: "Lengths") -> "Lengths":
        return Lengths(self.count + other.count, self.total + other.total, self.squares + other.squares)

    def summary(self) -> dict[str, float]:
        """Return mean and standard deviation; 0 if there are no lengths."""
        if not self.count:
            return {"mean": 0.0, "sd": 0.0}
        scatter = self.squares * self.count - self.total * self.total  # whole numbers: nothing is lost
        return {"mean": self.total / self.count, "sd": math.sqrt(scatter / (self.count * max(1, self.count - 1)))}
