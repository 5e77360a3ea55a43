"""Weights in files: safetensors, which hold no code, and the digest that ties results to the model that made them."""

import os
from pathlib import Path

from epic.core.files import InputError, sha256_of

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


def load_weights(model, path) -> None:
    """Put weights that `save_weights` wrote into a torch module; refuse a damaged file, or one of another model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        model.load_state_dict(load_file(path))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise InputError(f"{path}: not the weights of this model, or damaged ({str(error)[:200]})") from error
