"""The course of a training run: one line a validation."""

import math
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines, write_text


class Iteration(NamedTuple):
    """The triples up to a validation, and its result; loss and accuracy are means over this iteration's triples."""

    iteration: int
    triples: int
    loss: float
    accuracy: float
    validation: float
    seconds: float


def best_of(history: list[Iteration]) -> Iteration:
    """Return the iteration with the highest validation value; the first of equal ones."""
    return max(history, key=lambda iteration: iteration.validation)


def write_history(history: list[Iteration], out) -> None:
    """Write the history as TSV; seconds differ from run to run, all else is the same."""
    lines = ["\t".join(Iteration._fields)]
    lines += ["\t".join(map(str, iteration)) for iteration in history]
    write_text(out, "\n".join(lines) + "\n")


def read_history(path) -> list[Iteration]:
    """Read a history that `write_history` wrote."""
    lines = numbered_lines(path)
    if next(lines, (0, ""))[1].split("\t") != list(Iteration._fields):
        raise InputError(f"{path}: not a training history; make it again")
    history: list[Iteration] = []
    for number, line in lines:
        try:
            values = zip(Iteration.__annotations__.values(), line.split("\t"), strict=True)
            history.append(Iteration(*(kind(value) for kind, value in values)))
            _check(history)
        except ValueError as error:
            raise InputError(f"{path} line {number}: not of a training history ({str(error)[:100]}); make it again") from error
    return history


def _check(history: list[Iteration]) -> None:
    """Refuse a last iteration that does not follow from those before it."""
    last, triples = history[-1], history[-2].triples if len(history) > 1 else 0
    if last.iteration != len(history) or last.triples <= triples:
        raise ValueError("iterations are counted from 1, and their triples grow")
    if not all(map(math.isfinite, last)) or last.seconds < 0:
        raise ValueError("a number that is not finite, or a negative time")
    if not 0 <= last.accuracy <= 1 or not 0 <= last.validation <= 1:
        raise ValueError("accuracy and validation are between 0 and 1")
