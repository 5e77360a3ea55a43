"""Weights in files: safetensors, which hold no code, and the digest that ties results to the model that made them."""

import os
from pathlib import Path

from epic.core.files import InputError, sha256_of
from epic.core.visible import one_line
from epic.model.shapes import difference, shapes_of

WEIGHTS = "model.safetensors"


def model_digest(checkpoint) -> str:
    """Return the sha256 of a checkpoint's weights."""
    return sha256_of(Path(checkpoint) / WEIGHTS)


def save_weights(model, path) -> None:
    """Write all weights of a torch module as safetensors."""
    from safetensors.torch import save_file  # torch takes seconds to import; a digest does not need it

    save_file({name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}, path)
    share(path)


def share(path) -> None:
    """Give a file the mode of any other new one: safetensors makes files that nobody else can read."""
    mask = os.umask(0o077)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)


def load_weights(model, path, described_by: str = "") -> None:
    """Put weights that `save_weights` wrote into a torch module; refuse a damaged file, or one of another model.

    described_by: the file beside it that says which model this is, if there is one.
    """
    found = read_weights(path)
    try:
        model.load_state_dict(found)
    except RuntimeError as error:
        other = f"; {described_by} speaks of others" if described_by else ""
        said = difference(shapes_of(model.state_dict()), shapes_of(found), more=False) or one_line(str(error))[:200]
        raise InputError(f"{path}: not the weights of this model, or damaged (it {said}{other})") from error


def read_weights(path) -> dict:
    """Read all weights of a file by name; refuse a damaged file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        said = one_line(str(error))[:200]
        raise InputError(f"{path}: not the weights of this model, or damaged ({said}); fetch or make it again") from error
