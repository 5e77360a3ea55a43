"""The vocabulary of a ranker that knows words: a folder that the stage `vocabulary` writes, and that a checkpoint copies in part.

vocabulary.json       tokeniser, numbers of words, dimensions of the vectors, how many words have one, passages of the collection
words.tsv             word TAB passages that have it TAB idf, a line each; line i, from 0, is word number i. Passages or idf are
                      empty where a published list does not tell them. After the vocabulary come words that only have an idf:
                      Duet matches them in query and passage, and has no vectors of them
vectors.safetensors   `vectors` (n, d) in float32, zeros for words without a pre-trained vector, and `known` (n,): which have one;
                      absent if the experiment names no vectors

How the contents are found is in epic.corpus.make_vocabulary: an edit there must not change the code of models that read them.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from epic.core.files import InputError, numbered_lines, read_json, replacing, write_json
from epic.core.seals import again
from epic.core.visible import one_line
from epic.corpus.words import TOKENISERS, tokeniser_named

FACTS, WORDS, VECTORS = "vocabulary.json", "words.tsv", "vectors.safetensors"
UNKNOWN = -1
DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class Word(NamedTuple):
    """A word, the number of passages that have it, and its normalised idf; None for what is not known."""

    word: str
    passages: int | None = None
    idf: float | None = None


@dataclass(frozen=True)
class Vocabulary:
    """The words of a vocabulary by number, and the tokeniser that makes words of texts."""

    tokeniser: str
    words: list[str]
    idf: list[float] | None = None  # of `words`, then of `beyond`; 0.0 for a word that has none; None if no word has one
    beyond: list[str] = field(default_factory=list)  # words that only have an idf
    files: ClassVar[tuple[str, ...]] = (FACTS, WORDS)

    def __post_init__(self):
        numbers = {word: number for number, word in enumerate(self.words)}
        more = {word: number for number, word in enumerate(self.beyond, len(self.words))}
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_all", numbers | more if more else numbers)

    @classmethod
    def read(cls, folder) -> "Vocabulary":
        """Read a vocabulary from its folder, or from a checkpoint that has a copy."""
        facts, words = _facts(Path(folder)), read_words(Path(folder) / WORDS)
        if len(words) != facts["words"] + facts["beyond"]:
            raise _damaged(Path(folder) / WORDS, f"{len(words)} words, {FACTS} speaks of {facts['words'] + facts['beyond']}")
        idf = [word.idf or 0.0 for word in words] if any(word.idf is not None for word in words) else None
        names = [word.word for word in words]
        return cls(facts["tokeniser"], names[: facts["words"]], idf, names[facts["words"] :])

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, text: str, limit: int | None = None, beyond: bool = False) -> list[int]:
        """Return the numbers of a text's first `limit` words, -1 for unknown ones; beyond: words with only an idf are known."""
        find = self._all if beyond else self._numbers
        return [find.get(word, UNKNOWN) for word in tokeniser_named(self.tokeniser)(text)[:limit]]


def pretrained(folder) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the pre-trained vectors (n, d) and which words have one (n,); None if the folder has none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = Path(folder) / VECTORS
    if not path.exists():
        return None
    try:
        found = load_file(path)
        vectors, known = found["vectors"], found["known"]
    except (SafetensorError, KeyError, ValueError) as error:
        raise _damaged(path, f"not a file of vectors ({one_line(str(error))[:120]})") from error
    facts = _facts(Path(folder))
    shape = (facts["words"], facts["dimensions"])
    if vectors.shape != shape or known.shape != shape[:1] or vectors.dtype != np.float32 or known.dtype != bool:
        raise _damaged(path, f"{vectors.dtype} {vectors.shape}, {FACTS} speaks of {shape[0]} words in {shape[1]} dimensions")
    if not np.isfinite(vectors).all():
        raise _damaged(path, "a number is not finite")
    return vectors, known


def write(folder, tokeniser: str, words: list[Word], passages: int, beyond: list[Word] = (), vectors=None) -> None:
    """Write the folder, whole or not at all; vectors: those of `words` (n, d) and which have one (n,), if any were named."""
    from safetensors.numpy import save_file

    facts = {"tokeniser": tokeniser, "words": len(words), "beyond": len(beyond), "dimensions": None, "found": None}
    with replacing(folder) as draft:
        draft.mkdir()
        with open(draft / WORDS, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{_line(word)}\n" for word in (*words, *beyond))
        if vectors is not None:
            values, known = vectors  # (n, d), (n,)
            facts |= {"dimensions": values.shape[1], "found": int(known.sum())}
            save_file({"vectors": values, "known": known}, draft / VECTORS)
        write_json(draft / FACTS, facts | {"passages": passages})


def _line(word: Word) -> str:
    return f"{word.word}\t{'' if word.passages is None else word.passages}\t{'' if word.idf is None else repr(word.idf)}"


def read_words(path) -> list[Word]:
    """Read the lines of words.tsv; refuse a line that is damaged, and a word that comes twice."""
    words, seen = [], set()
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if len(fields) != 3 or not is_word(fields[0]) or fields[0] in seen:
            raise _damaged(f"{path} line {number}", f"expected another word TAB passages TAB idf, found {line[:60]!r}")
        seen.add(fields[0])
        words.append(Word(fields[0], _number(fields[1], path, number), _idf(fields[2], path, number)))
    return words


def is_word(text: str) -> bool:
    """Tell whether a text can be a word: tokenisers make none that is empty or has blanks."""
    return text.split() == [text]


def _number(text: str, path, line: int) -> int | None:
    if text and not (text.isascii() and text.isdigit() and len(text) < 19):
        raise _damaged(f"{path} line {line}", f"{text[:40]!r} is no number of passages")
    return int(text) if text else None


def as_idf(text: str) -> float | None:
    """Return the number that a text says, None if it is no idf: those are finite, and none is negative."""
    value = float(text) if DECIMAL.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def _idf(text: str, path, line: int) -> float | None:
    if not text:
        return None
    value = as_idf(text)
    if value is None:
        raise _damaged(f"{path} line {line}", f"{text[:40]!r} is no idf")
    return value


def _facts(folder: Path) -> dict:
    """Read vocabulary.json and check what others rely on."""
    facts = read_json(folder / FACTS)
    facts = {"beyond": 0, "dimensions": None} | facts if isinstance(facts, dict) else {}
    if facts.get("tokeniser") not in list(TOKENISERS):
        raise _damaged(folder / FACTS, f"it names no tokeniser of {', '.join(TOKENISERS)}")
    if not _whole(facts.get("words"), 1) or not _whole(facts.get("beyond"), 0) or not _whole(facts.get("passages"), 0):
        raise _damaged(folder / FACTS, "it does not say how many words and passages there are")
    if facts.get("dimensions") is not None and not _whole(facts["dimensions"], 1):
        raise _damaged(folder / FACTS, f"{facts['dimensions']!r:.40} are no dimensions")
    return facts


def _whole(value, least: int) -> bool:
    return type(value) is int and value >= least


def _damaged(where, what: str) -> InputError:
    folder = Path(str(where).partition(" line ")[0]).parent
    return InputError(f"{where}: {what}; it was damaged: {again(folder)}")
