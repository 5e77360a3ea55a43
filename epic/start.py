"""What a model is before training: a pre-trained encoder with new layers, or the authors' finished weights."""

from epic.authors import load_authors, read_authors
from epic.model import Epic


def starting_model(encoder, entry: dict, weights, device: str = "cpu") -> Epic:
    """The model of an experiment's entry; `weights` is the file that its `start` names, or nothing."""
    model = Epic.from_encoder(encoder, entry["formulation"], entry["seed"])
    if weights:
        md5 = entry["start"]["md5"]
        load_authors(model, read_authors(weights, [md5] if md5 else None), weights)
    return model.to(device).eval()
