"""A collection of four passages and two queries to train a tiny random encoder on."""

import importlib
import itertools
import logging
import os
import signal

from epic.corpus.runs import ScoredDoc
from epic.corpus.sampling import sample
from epic.experiment.settings import TrainSettings
from tests.measures import measure

QRELS = {"q1": {"0": 1}, "q2": {"1": 1, "2": 1}}
RUN = {"q1": [ScoredDoc(doc, 1.0) for doc in "012"], "q2": [ScoredDoc(doc, 1.0) for doc in "120"]}
QUERIES = {"q1": "cost of pool", "q2": "a b"}


def settings(**changes):
    values = {
        "batch_size": 4, "micro_batch_size": 2, "learning_rate": 0.01, "learning_rate_new_layers": 0.02, "validate_every": 8,
        "validation_hits": 3, "validation_first_stage": "bm25", "validation_token_budget": 512, "patience": 2, "max_validations": 3, "max_tokens": None,
        "precision": "float32", "threads": 1,
    }  # fmt: skip
    return TrainSettings(**values | changes)


def write_collection(folder, triples=None):
    """docs.tsv, tq.tsv and t.tsv: documents, queries and training triples."""
    (folder / "docs.tsv").write_text("0\tprice of pool\n1\ta b c\n2\tb a\n3\t\n")
    (folder / "tq.tsv").write_text("".join(f"{query_id}\t{text}\n" for query_id, text in QUERIES.items()))
    (folder / "t.tsv").write_text("".join("\t".join(triple) + "\n" for triple in triples or sample(QRELS, RUN, 24, seed=3)))
    return folder


def without_seconds(history):
    return [iteration._replace(seconds=0.0) for iteration in history]


def trained(encoder, examples, validation, folder, formulation="paper", loss="cross-entropy", **changes):
    """A model and the history of its training."""
    from epic.model.epic import EpicModel
    from epic.rankers import epic as family
    from epic.training.resume import State
    from epic.training.train import train

    model = EpicModel.from_encoder(encoder, formulation, seed=7)
    return model, train(family, model, examples, validation, settings(**changes), loss, 7, State(folder / "state", "key"))


def train_in(folder, encoder, formulation, name, kill=None, seconds=0):
    """A training run for a process of its own, to the end or until it is killed; so many seconds pass between looks at the clock."""
    import torch

    from epic.corpus.documents import Documents
    from epic.model.epic import EpicModel
    from epic.rankers import epic as family
    from epic.training.examples import Examples
    from epic.training.history import write_history
    from epic.training.resume import State
    from epic.training.train import train
    from epic.training.validation import Validation

    logging.basicConfig(level="INFO")
    if kill:
        make_deadly(*kill)
    torch.set_num_threads(1)
    model = EpicModel.from_encoder(encoder, formulation, seed=7)
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    clock = itertools.count(0, seconds).__next__
    state, validation = State(folder / f"{name}-state", "key", clock), Validation(QUERIES, QRELS, RUN, 512, measure("RR@10"))
    history = train(family, model, examples, validation, settings(patience=9), "cross-entropy", 7, state)
    model.save_pretrained(folder / name)
    write_history(history, folder / f"{name}.tsv")


def make_deadly(module, function, nth, when):
    """Let a function of a module end this process without warning, before or after it is called for the nth time."""
    owner = importlib.import_module(module)
    *path, name = function.split(".")
    for part in path:
        owner = getattr(owner, part)
    inner, calls = getattr(owner, name), [0]

    def deadly(*arguments, **named):
        calls[0] += 1
        if calls[0] == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = inner(*arguments, **named)
        if calls[0] == nth:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)
