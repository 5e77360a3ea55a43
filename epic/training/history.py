"""The course of a training run: one line a validation."""

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
    lines = [line.split("\t") for _, line in numbered_lines(path)]
    if not lines or tuple(lines[0]) != Iteration._fields:
        raise InputError(f"{path}: not a training history; delete it and run again")
    kinds = Iteration.__annotations__.values()
    return [Iteration(*(kind(value) for kind, value in zip(kinds, line, strict=True))) for line in lines[1:]]
