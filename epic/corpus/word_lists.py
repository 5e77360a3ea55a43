"""Published lists of words, a line each: `term TAB id`, numbered from 1, and `term TAB idf`."""

import re
from collections.abc import Iterator

from epic.core.files import InputError, numbered_lines
from epic.corpus.vocabulary import as_idf, is_word

ID = re.compile("[1-9][0-9]{0,17}")
SHOWN = 5  # words in an error


def read_ids(path) -> list[str]:
    """Return the words of a published vocabulary in the order of their ids; refuse gaps, and words or ids that come twice."""
    words: dict[int, tuple[int, str]] = {}  # id -> line, word
    lines: dict[str, int] = {}
    for number, word, given in _fields(path, "id"):
        if not ID.fullmatch(given):
            raise InputError(f"{path} line {number}: {given[:40]!r} is no id; ids are 1, 2 and so on")
        if word in lines:
            raise InputError(f"{path} line {number}: the word {word[:40]!r} came in line {lines[word]}; give each word one line")
        if int(given) in words:
            raise InputError(f"{path} line {number}: the id {given} came in line {words[int(given)][0]}; give each word its own")
        words[int(given)], lines[word] = (number, word), number
    largest = max(words)
    if largest != len(words):
        gap = next(number for number in range(1, largest) if number not in words)
        raise InputError(f"{path} line {words[largest][0]}: the id {largest}, but none has the id {gap}; ids are 1, 2 and so on")
    return [words[number][1] for number in range(1, largest + 1)]


def read_idf(path) -> dict[str, float]:
    """Return the idf of words as it is published; refuse what is no number of 0 or more, and a word that has two."""
    found: dict[str, float] = {}
    for number, word, given in _fields(path, "idf"):
        value = as_idf(given)
        if value is None:
            raise InputError(f"{path} line {number}: {given[:40]!r} is no idf; expected a number of 0 or more")
        if found.setdefault(word, value) != value:
            raise InputError(
                f"{path} line {number}: the word {word[:40]!r} has another idf, {found[word]}, before; give each word one"
            )
    return found


def refuse_strangers(path, idf: dict[str, float], words: list[str]) -> None:
    """Refuse a list of which no word is in the vocabulary."""
    if not any(word in idf for word in words):
        theirs, ours = (", ".join(repr(word)[:40] for word in list(some)[:SHOWN]) for some in (idf, words))
        raise InputError(f"{path}: no word of the vocabulary has an idf; it begins with {theirs}, the vocabulary with {ours}")


def _fields(path, kind: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, word, value) of all lines; refuse a file without any."""
    number = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if len(fields) != 2 or not is_word(fields[0]):
            raise InputError(f"{path} line {number}: expected word TAB {kind}, the word without blanks; found {line[:60]!r}")
        yield number, *fields
    if not number:
        raise InputError(f"{path}: the file is empty; expected a line word TAB {kind} for each word")
