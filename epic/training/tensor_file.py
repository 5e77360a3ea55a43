"""Tensors as a file of safetensors, whose sha256 is taken while it is written: nothing is read again, and nothing is held twice.

The bytes are those that safetensors itself writes. It takes all tensors at once, on the CPU; here they go there one by one, so
that the state of a model on a card needs no second copy in memory.
"""

import hashlib
import json
from collections.abc import Mapping

import torch
from torch import Tensor

KINDS = {
    torch.int64: "I64",
    torch.float64: "F64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}  # fmt: skip - in the order of safetensors, the widest first: so all of them are aligned
AT_ONCE = 1 << 24  # bytes


def write_tensors(tensors: Mapping[str, Tensor], path) -> str:
    """Write tensors by name, from any device, and return the sha256 of the file."""
    order = sorted(tensors, key=lambda name: (list(KINDS).index(tensors[name].dtype), name))
    digest = hashlib.sha256()
    with open(path, "wb") as stream:
        for block in _blocks(tensors, order):
            digest.update(block)
            stream.write(block)
    return digest.hexdigest()


def _blocks(tensors: Mapping[str, Tensor], order: list[str]):
    """Yield the bytes of the file: the length of the header, the header, and the tensors one after the other."""
    header = _header(tensors, order)
    yield len(header).to_bytes(8, "little")
    yield header
    for name in order:
        flat = tensors[name].detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()  # (bytes,)
        for start in range(0, len(flat), AT_ONCE):
            yield flat[start : start + AT_ONCE].data


def _header(tensors: Mapping[str, Tensor], order: list[str]) -> bytes:
    """Return kind, shape and place of each tensor, as JSON that is padded to whole words of eight bytes."""
    facts, place = {}, 0
    for name in order:
        tensor = tensors[name]
        end = place + tensor.numel() * tensor.element_size()
        facts[name] = {"dtype": KINDS[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % 8)
