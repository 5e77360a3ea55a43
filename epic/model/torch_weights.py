"""Weights as torch pickles them, rewritten as safetensors: models of before 2023 are published in no other form."""

from pathlib import Path

from epic.core.files import InputError

MOST_TIES = 8  # times the file: tensors that share their numbers are written out one by one; T5 has four names for its largest


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
    if odd := next((name for name, value in found.items() if not _is_plain(value)), None):
        raise InputError(f"{pickled}: not the weights of a model: {odd:.60} is sparse, not finite, or no more than a shape")
    if sum(value.nbytes for value in found.values()) > MOST_TIES * pickled.stat().st_size:
        raise InputError(f"{pickled}: not the weights of a model: it names the same numbers more than {MOST_TIES} times")
    save_file({name: value.clone().contiguous() for name, value in found.items()}, out, metadata={"format": "pt"})


def _is_plain(tensor) -> bool:
    """Tell whether a tensor's numbers are all there, and finite: a view may claim a million times what is stored."""
    import torch

    stored = tensor.layout is torch.strided and not tensor.is_quantized and tensor.nbytes <= tensor.untyped_storage().nbytes()
    return stored and bool(torch.isfinite(tensor).all())
