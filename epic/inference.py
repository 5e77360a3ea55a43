"""A trained model as an experiment's `compute` settings say: on which device, with how many threads, in which precision."""

from epic.compute import PRECISIONS, prepare
from epic.model import Epic


def load_model(checkpoint, compute: dict) -> Epic:
    """A checkpoint, ready for inference."""
    model = Epic.from_pretrained(checkpoint, prepare(compute["device"], compute["threads"]))
    model.precision = PRECISIONS[compute["precision"]]
    return model
