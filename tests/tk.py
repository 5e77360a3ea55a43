"""A small TK: a vocabulary in a folder, and settings that differ from each other wherever a mistake could hide."""

from epic.corpus.vocabulary import Word, write
from tests.measures import measure

SETTINGS = {
    "layers": 2, "heads": 2, "projection": 4, "feed_forward": 5, "dimensions": 8, "query_words": 4, "passage_words": 7,
    "words": {"tokeniser": "blingfire", "vocabulary": None, "at_least": 1, "most": None, "idf": None, "vectors": None},
}  # fmt: skip
WORDS = ("pool", "price", "of", "a", "b", "c", "café", "cost", "x", "y", "z")


def write_vocabulary(folder, words=WORDS, vectors=None, tokeniser="blingfire"):
    """Write a vocabulary; vectors: (n, d), and which words have one (n,)."""
    write(folder, tokeniser, [Word(word, 1) for word in words], passages=3, vectors=vectors)
    return folder


def entry(**changes):
    """The entry of a model in an experiment."""
    return {"id": "tk", "family": "tk", "settings": SETTINGS | changes, "seed": 3, "encoder": None, "start": None}


def train_in(folder, name, kill=None):
    """A training run for a process of its own, to the end or until it is killed (`tests.training.make_deadly`)."""
    import itertools
    import logging

    import torch

    from epic.corpus.documents import Documents
    from epic.rankers import tk
    from epic.training.examples import Examples
    from epic.training.resume import State
    from epic.training.train import train
    from epic.training.validation import Validation
    from tests.training import QRELS, QUERIES, RUN, make_deadly, settings

    logging.basicConfig(level="INFO")
    if kill:
        make_deadly(*kill)
    torch.set_num_threads(1)
    ranker = tk.create(folder / "v", entry(), None, "cpu")
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    state, validation = (
        State(folder / f"{name}-state", "key", itertools.count(0, 1000).__next__),
        Validation(QUERIES, QRELS, RUN, 512, measure("RR@10")),
    )
    train(tk, ranker, examples, validation, settings(patience=9), "hinge", 7, state)
    tk.save(ranker, folder / name, str)
