"""A tiny weighter to train: labelled passages for the random encoder, and a run of training for a process of its own."""

import functools
import itertools
import logging

from tests.training import make_deadly

LABELS = '{"id": "0", "queries": 1, "recall": {"pool": 1.0, "price": 0.5}}\n{"id": "1", "queries": 2, "recall": {"b": 0.5}}\n'
LABELS += '{"id": "2", "queries": 1, "recall": {"a": 1.0}}\n{"id": "3", "queries": 1, "recall": {}}\n'
TRAIN = {
    "query_set": "train", "stop_words": None, "seed": 5, "batch_size": 2, "learning_rate": 0.01, "epochs": 5, "warm_up": 0.1, "weight_decay": 0.01,
    "clip": 1.0, "report_every": 3, "precision": "float32", "threads": 1,
}  # fmt: skip


def write_labelled(folder):
    """docs.tsv and labels.jsonl: four passages, one of them empty, and their labels."""
    (folder / "docs.tsv").write_text("0\tprice of pool\n1\ta b c\n2\tpools b a\n3\t\n")
    (folder / "labels.jsonl").write_text(LABELS)
    return folder


def regress_in(folder, encoder, name, kill=None, seconds=0):
    """Train to the end or until it is killed; so many seconds pass between looks at the clock."""
    import torch

    from epic.corpus.documents import Documents
    from epic.model.term_weights import load_term_weights
    from epic.training import regress, resume

    logging.basicConfig(level="INFO")
    regress.State = functools.partial(resume.State, clock=itertools.count(0, seconds).__next__)
    if kill:
        make_deadly(*kill)
    torch.set_num_threads(1)
    model = load_term_weights(encoder, 16, TRAIN["seed"])
    documents = Documents(f"path:{folder}")
    history = regress.trained(model, folder / "labels.jsonl", documents, TRAIN, folder / f"{name}-state", "key")
    model.save(folder / name)
    regress.write_portions(history, folder / f"{name}.tsv")
