"""Training of a family that scores pairs of texts, in a process of its own that can be killed."""

import itertools
import logging

from tests.measures import measure
from tests.training import QRELS, QUERIES, RUN, make_deadly, settings


def train_pairs_in(folder, side, entry, name, kill=None, seconds=0, changes=None):
    """Train the model of an entry on the collection in a folder, to the end or until it is killed, and save it there.

    side: the folder of its encoder or vocabulary; seconds: pass between two looks at the clock; changes: of the settings.
    """
    import torch

    from epic.corpus.documents import Documents
    from epic.rankers import family
    from epic.training.examples import Examples
    from epic.training.history import write_history
    from epic.training.resume import State
    from epic.training.train import train
    from epic.training.validation import Validation

    logging.basicConfig(level="INFO")
    kind = family(entry["family"])
    if kill:
        make_deadly(*kill)
    torch.set_num_threads(1)
    ranker = kind.create(side, entry, None, "cpu")
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    state = State(folder / f"{name}-state", "key", itertools.count(0, seconds).__next__)
    validation, how = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10")), settings(**{"patience": 9} | (changes or {}))
    history = train(kind, ranker, examples, validation, how, entry["loss"], entry["seed"], state)
    kind.save(ranker, folder / name, str)
    write_history(history, folder / f"{name}.tsv")
