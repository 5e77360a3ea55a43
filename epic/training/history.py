"""The course of a training run: one line a validation, with the number of the member where a model has several."""

import math
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines, write_text

MEMBER = "member"  # the first column, if there are several


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


class Course(NamedTuple):
    """A model's training: the history of each of its members, of which most models have one, and what is to be remarked."""

    histories: list[list[Iteration]]
    remarks: list[str]


def write_history(history: list[Iteration], out) -> None:
    """Write the history as TSV; seconds differ from run to run, all else is the same."""
    write_histories([history], out)


def write_histories(histories: list[list[Iteration]], out) -> None:
    """Write the histories of a model's members; a single one is written as a history without members."""
    several = len(histories) > 1
    lines = ["\t".join(([MEMBER] if several else []) + list(Iteration._fields))]
    for member, history in enumerate(histories, start=1):
        lines += ["\t".join(map(str, ([member] if several else []) + list(iteration))) for iteration in history]
    write_text(out, "\n".join(lines) + "\n")


def read_history(path) -> list[Iteration]:
    """Read a history that `write_history` wrote."""
    histories = read_histories(path)
    if len(histories) > 1:
        raise InputError(f"{path}: the histories of {len(histories)} members, expected one history")
    return histories[0]


def read_histories(path) -> list[list[Iteration]]:
    """Read the histories of a model's members; a model without members is one."""
    lines = numbered_lines(path)
    header = next(lines, (0, ""))[1].split("\t")
    several = header[:1] == [MEMBER]
    if header[several:] != list(Iteration._fields):
        raise InputError(f"{path}: not a training history; make it again")
    histories: list[list[Iteration]] = [[]]
    for number, line in lines:
        try:
            values = line.split("\t")
            member, iteration = int(values[0]) if several else 1, _iteration(values[several:])
            if member == len(histories) + 1 and histories[-1]:
                histories.append([])
            if member != len(histories):
                raise ValueError("members are counted from 1")
            histories[-1].append(iteration)
            _check(histories[-1])
        except ValueError as error:
            raise InputError(f"{path} line {number}: not of a training history ({str(error)[:100]}); make it again") from error
    return histories


def _iteration(values: list[str]) -> Iteration:
    kinds = Iteration.__annotations__.values()
    return Iteration(*(kind(value) for kind, value in zip(kinds, values, strict=True)))


def _check(history: list[Iteration]) -> None:
    """Refuse a last iteration that does not follow from those before it."""
    last, triples = history[-1], history[-2].triples if len(history) > 1 else 0
    if last.iteration != len(history) or last.triples <= triples:
        raise ValueError("iterations are counted from 1, and their triples grow")
    if not all(map(math.isfinite, last)) or last.seconds < 0:
        raise ValueError("a number that is not finite, or a negative time")
    if not 0 <= last.accuracy <= 1 or not 0 <= last.validation <= 1:
        raise ValueError("accuracy and validation are between 0 and 1")
