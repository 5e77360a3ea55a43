"""Pre-trained vectors of words in GloVe's text format: `word v1 ... vd`, a line each, as a .txt or in a .zip, read as a stream.

A word may hold blanks (a few of the releases have such words), so the last d fields are the vector. Every line is checked
for their number. The numbers themselves are looked at in the first line, and in the lines of words that are wanted: of the
1.9 million lines of glove.42B.300d a vocabulary needs a fraction.
"""

import logging
import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from epic.core.archives import opened_zip, reading
from epic.core.files import InputError, lines_of, numbered_lines
from epic.core.log import progress

log = logging.getLogger(__name__)
MOST_PARTS = 10  # of a word with blanks; more are two lines that lost the end between them
SHOWN = 5  # words in an error
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
LARGEST = float(np.finfo(np.float32).max)
ODD = re.compile(r"[^-+.0-9eE ]")


def read_vectors(source, words: list[str], dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of words (n, d), zeros for those without, and which have one (n,); refuse a file that has none of them.

    If a word comes twice, the first line counts. GloVe's files are sorted by frequency: the first is the word itself, and a
    later one some rarer string that an encoding or a tokeniser made equal to it.
    """
    source, places = Path(source), {word: place for place, word in enumerate(words)}
    vectors, known = np.zeros((len(words), dimensions), np.float32), np.zeros(len(words), bool)  # (n, d), (n,)
    again, theirs, lines = 0, [], 0
    for where, word, numbers in _rows(source, dimensions):
        lines += 1
        if len(theirs) < SHOWN:
            theirs.append(word)
        place = places.get(word)
        if place is None:
            continue
        if known[place]:
            again += 1
            continue
        vectors[place], known[place] = _parsed(numbers, dimensions, where), True
    if not lines:
        raise InputError(f"{source}: the file is empty; expected a line `word v1 ... v{dimensions}` for each word")
    if not known.any():
        raise InputError(
            f"{source}: it has a vector for none of the {len(words)} words of the vocabulary; it begins with "
            f"{_listed(theirs)}, the vocabulary with {_listed(words[:SHOWN])}; is it of another language, or not in lower case?"
        )
    told = f", {again} lines of words that came before are left out" if again else ""
    log.info("%s: %d lines; %d of %d words have a vector%s", source, lines, known.sum(), len(words), told)
    return vectors, known


def _rows(source: Path, dimensions: int) -> Iterator[tuple[str, str, str]]:
    """Yield (file and line, word, its numbers as a text) of all lines; refuse a line that has not as many as there should be."""
    with ExitStack() as stack:
        name, lines = _lines(source, dimensions, stack)
        for number, line in progress(lines, desc="vectors", unit=" lines"):
            if line.endswith(" "):
                line = line.rstrip(" ")
            word, _, numbers = line.partition(" ")
            if number == 1 or line.count(" ") != dimensions or not word:
                word, numbers = _checked(line, dimensions, f"{name} line {number}", first=number == 1)
            yield f"{name} line {number}", word, numbers


def _lines(source: Path, dimensions: int, stack: ExitStack) -> tuple[str, Iterator[tuple[int, str]]]:
    """Return the name of a file, for errors, and its numbered lines; of a zip those of its text file."""
    if not zipfile.is_zipfile(source) and source.suffix != ".zip":
        return str(source), numbered_lines(source)
    archive = stack.enter_context(opened_zip(source))
    member = _member(source, archive.namelist(), dimensions)
    stack.enter_context(reading(source, f"{member} "))  # a damaged member says so somewhere in the middle, or at its end
    return f"{source}: {member}", lines_of(stack.enter_context(archive.open(member)), f"{source}: {member}")


def _member(source: Path, names: list[str], dimensions: int) -> str:
    """Choose the text file of an archive: the only one, or the one whose name ends in its dimensions, as glove.6B.300d.txt."""
    texts = [name for name in names if name.endswith(".txt")]
    found = texts if len(texts) == 1 else [name for name in texts if name.endswith(f".{dimensions}d.txt")]
    if len(found) != 1:
        held = f"holds {_listed(texts)}" if texts else "holds no .txt file"
        raise InputError(
            f"{source}: {held}; expected one .txt file, or one whose name ends in .{dimensions}d.txt: unpack it and name the file"
        )
    return found[0]


def _checked(line: str, dimensions: int, where: str, first: bool) -> tuple[str, str]:
    """Return word and numbers of a line that is the first or odd: the word may have blanks, the numbers must be `dimensions`."""
    fields = line.split(" ")
    parts, numbers = fields[:-dimensions], fields[-dimensions:]
    if first and len(fields) == 2 and all(field.isdigit() for field in fields):
        raise InputError(f"{where}: {line!r} is the header of fastText's or word2vec's format; give the file without it")
    if len(parts) > 1 and _is_number(parts[-1]):  # a vector of more dimensions, not a word with blanks
        raise _ragged(where, line, _count(fields), dimensions, first)
    if not 0 < len(parts) <= MOST_PARTS or not any(parts):
        raise _ragged(where, line, _count(fields), dimensions, first)
    if first:
        _parsed(" ".join(numbers), dimensions, where)
    return " ".join(parts), " ".join(numbers)


def _count(fields: list[str]) -> int:
    """Return how many numbers end a line, but for a first field, which is the word."""
    return next((place for place, field in enumerate(reversed(fields[1:])) if not _is_number(field)), len(fields) - 1)


def _ragged(where: str, line: str, found: int, dimensions: int, first: bool) -> InputError:
    expected = f"{where}: expected a word and {dimensions} numbers, found {found} of them in {line[:40]!r}"
    remedy = "correct `dimensions` in the experiment, or name another file" if first else "the file was damaged: fetch it anew"
    return InputError(f"{expected}; {remedy}")


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def _parsed(numbers: str, dimensions: int, where: str) -> np.ndarray:
    """Return a vector (d,) from its text; refuse what is no number, or none that float32 can hold."""
    fields = numbers.split(" ")
    try:
        if ODD.search(numbers):
            raise ValueError("what Python takes for a number, and GloVe does not write")
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and is refused
            vector = np.array(fields, np.float64).astype(np.float32)  # (d,)
        if len(vector) != dimensions or not np.isfinite(vector).all():
            raise ValueError("infinite, or too large")
    except ValueError:
        wrong = next((field for field in fields if not _is_number(field) or abs(float(field)) > LARGEST), numbers)
        raise InputError(f"{where}: {wrong[:40]!r} is no number of a vector; the file was damaged: fetch it anew") from None
    return vector


def _listed(words: list[str]) -> str:
    return ", ".join(repr(word)[:40] for word in words[:SHOWN])
