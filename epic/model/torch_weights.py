"""Weights as torch pickles them, rewritten as safetensors: models of before 2023 are published in no other form."""

from pathlib import Path

from epic.core.files import InputError


def write_safetensors(pickled: Path, out: Path) -> None:
    """Write the tensors of a `pytorch_model.bin`; nothing but tensors is unpickled, so that a hostile file can run no code."""
    import torch
    from safetensors.torch import save_file

    try:
        found = torch.load(pickled, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds at a file that is no pickle of its own
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{pickled}: not the weights of a model as torch writes them ({said[0]:.200}); fetch it anew") from error
    if not isinstance(found, dict) or {(type(name), isinstance(value, torch.Tensor)) for name, value in found.items()} - {
        (str, True)
    }:
        raise InputError(f"{pickled}: not the weights of a model: expected tensors by name")
    save_file(
        {name: value.clone().contiguous() for name, value in found.items()}, out, metadata={"format": "pt"}
    )  # ties become copies
