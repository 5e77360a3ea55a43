"""The names and shapes of weights, to say what is wrong with a file before its numbers are read. No result depends on this."""

import re

from epic.core.files import InputError
from epic.core.visible import one_line

LAYER = re.compile(r"(?:.*\.)?(?:layers?|block|h)\.[0-9]+\.")
Shapes = dict[str, tuple[int, ...]]


def shapes_in(path) -> Shapes:
    """Return the shape of every tensor in a file of safetensors, whose numbers are not read; refuse a damaged file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - it is no dict
    except (OSError, SafetensorError) as error:
        said = one_line(str(error))[:200]
        raise InputError(f"{path}: not the weights of this model, or damaged ({said}); fetch or make it again") from error


def shapes_of(tensors) -> Shapes:
    """Return the shapes of tensors by name."""
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def difference(expected: Shapes, found: Shapes, more: bool = True) -> str:
    """Say which weights are missing, or have another shape than expected; nothing if none. more: there may be others."""
    if absent := [name for name in expected if name not in found]:
        return f"has no {absent[0]} ({len(absent)} weights are missing)"
    if other := [name for name in expected if found[name] != expected[name]]:
        return f"has {other[0]} of the shape {found[other[0]]}, expected {expected[other[0]]} ({len(other)} such)"
    unknown = [] if more else [name for name in found if name not in expected]
    return f"has {unknown[0][:100]}, which is unknown ({len(unknown)} such)" if unknown else ""


def surplus_layer(unused, used) -> str | None:
    """Return the first of the unused weights that is of a layer which no used one is of; None if there is none."""
    known = {layer[0] for name in used if (layer := LAYER.match(name))}
    return next((name for name in unused if (layer := LAYER.match(name)) and layer[0] not in known), None)
