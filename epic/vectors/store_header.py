"""Headers of vector stores: what they say, and what is refused because no store can be so.

epic-vectors-3    a plain store: its rows lie in the folder itself
epic-vectors-4    layers: each in a folder of its own (`layers`)
epic-gathered-4   no rows: the shards that hold them, by their paths relative to this folder, and which of their layers are read
"""

from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from epic.core import seals
from epic.core.files import InputError, read_json
from epic.model.query_vector import MAX_VOCABULARY
from epic.vectors.layers import Layer

PLAIN, LAYERED, GATHERED = "epic-vectors-3", "epic-vectors-4", "epic-gathered-4"
KEYS = {"format", "documents", "keep", "vocabulary", "model", "start", "ids_width", "sha256"}
MORE_KEYS = {PLAIN: set(), LAYERED: {"layers"}, GATHERED: {"layers", "shards"}}
ARRAYS = {"terms.u16": np.uint16, "weights.f16": np.float16}
SUMS = "sums.u64"
MOST, WIDEST = 10**12, 10**6  # rows, positions and so on; bytes of an id
UP = 3  # folders from results/EXPERIMENT/prune/MODEL/KEEP to the experiment
ENCODE = "encode"  # the folder of an experiment that holds the shards


class Shard(NamedTuple):
    """A folder of rows, as a gathered store names it."""

    path: str  # relative to the gathered store
    start: int  # of its first row in the collection
    documents: int
    header: str  # sha256 of its header.json: it is still the shard that was gathered


class Header(NamedTuple):
    """A header that was checked."""

    format: str
    documents: int
    keep: int
    vocabulary: int
    model: str
    start: int
    ids_width: int | None
    sums: dict[str, str]  # sha256 by name of file
    layers: tuple[Layer, ...]
    shards: tuple[Shard, ...] = ()


def read_header(path: Path) -> Header:
    """Read and check the header of a store."""
    if not (path / seals.HEADER).exists():
        raise InputError(f"{path}: not a vector store (it has no header.json); {seals.again(path)}")
    said = read_json(path / seals.HEADER)
    kind = said.get("format") if isinstance(said, dict) else None
    if not isinstance(kind, str) or kind not in MORE_KEYS:
        raise InputError(f"{path}: format {kind!r:.40}, this program reads {', '.join(MORE_KEYS)}; {seals.again(path)}")
    if absent := sorted((KEYS | MORE_KEYS[kind]) - said.keys()):
        raise InputError(f"{path}/header.json has no {absent[0]}; {seals.again(path)}")
    _check_sizes(path, said)
    layers = (Layer(said["keep"]),) if kind == PLAIN else _layers(path, said)
    shards = _shards(path, said) if kind == GATHERED else ()
    sizes = (said[key] for key in ("documents", "keep", "vocabulary", "model", "start", "ids_width", "sha256"))
    return Header(kind, *sizes, layers, shards)


def _check_sizes(path: Path, said: dict) -> None:
    """Refuse a header whose values are not of their kinds: sizes of files, positions and kernels depend on them."""
    documents, keep, vocabulary, start, width = (said[key] for key in ("documents", "keep", "vocabulary", "start", "ids_width"))
    if type(vocabulary) is int and vocabulary > MAX_VOCABULARY:
        raise InputError(f"{path}: {vocabulary} vocabulary entries do not fit 16-bit term ids")
    if (
        not all(map(_is_size, (documents, keep, vocabulary, start)))
        or not (1 <= keep <= vocabulary)
        or not (width is None or (type(width) is int and 1 <= width < WIDEST))
    ):
        raise _odd(path, "documents, keep, vocabulary, start or ids_width is not a size that a store has")
    sums = said["sha256"]
    if not isinstance(said["model"], str) or not isinstance(sums, dict) or not all(map(_is_sum, sums.items())):
        raise _odd(path, "model or sha256 is no digest")


def _layers(path: Path, said: dict) -> tuple[Layer, ...]:
    """Return the layers; each extends one before it, or none, and the last one holds the last rank."""
    found: list[Layer] = []
    for entry in said["layers"] if isinstance(said["layers"], list) else [None]:
        if not isinstance(entry, dict) or not {"keep", "extends", "folder"} <= entry.keys():
            raise _odd(path, "layers is no list of keep, extends and folder")
        keep, extends, folder = entry["keep"], entry["extends"], entry["folder"]
        known = [0, *(layer.keep for layer in found)]
        named = folder == str(keep) or (folder == "" and not found)  # a plain shard's rows lie in the shard itself
        if not (_is_size(keep) and _is_size(extends) and extends in known and known[-1] < keep and named):
            raise _odd(path, f"{entry!r:.80} is no layer")
        found.append(Layer(keep, extends, folder))
    if not found or found[-1].keep != said["keep"]:
        raise _odd(path, "the last layer has other ranks than the store")
    return tuple(found)


def _shards(path: Path, said: dict) -> tuple[Shard, ...]:
    """Return the shards; they tile the collection."""
    found: list[Shard] = []
    position = 0
    for entry in said["shards"] if isinstance(said["shards"], list) else [None]:
        if not isinstance(entry, dict) or entry.keys() != set(Shard._fields):
            raise _odd(path, f"shards is no list of {', '.join(Shard._fields)}")
        shard = Shard(**entry)
        if not _is_size(shard.documents) or shard.start != position or not isinstance(shard.header, str):
            raise _odd(path, "the shards do not tile the collection")
        if not isinstance(shard.path, str) or not is_near(shard.path):
            raise _odd(path, f"the shard {shard.path!r:.80} lies outside of the experiment's {ENCODE} folder")
        position += shard.documents
        found.append(shard)
    if not found or position != said["documents"]:
        raise _odd(path, "the shards do not tile the collection")
    return tuple(found)


def is_near(path: str) -> bool:
    """Tell whether a shard's path, relative to its store, leads into the same experiment's encode folder, or beside the store."""
    parts = PurePosixPath(path).parts
    up = next((number for number, part in enumerate(parts) if part != ".."), 0)
    inside = parts[up:]
    plain = "/".join(parts) == path and not path.startswith("/") and "\0" not in path and ".." not in inside
    return plain and ((up == 1 and len(inside) == 1) or (up == UP and len(inside) == UP and inside[0] == ENCODE))


def _is_size(number) -> bool:
    return type(number) is int and 0 <= number < MOST


def _is_sum(item: tuple) -> bool:
    """Tell whether this is the name of a file inside a store, or in a folder of it, and its checksum."""
    name, found = item
    parts = PurePosixPath(name).parts
    return len(parts) in (1, 2) and "/".join(parts) == name and ".." not in parts and "/" not in parts and isinstance(found, str)


def _odd(path: Path, what: str) -> InputError:
    return InputError(f"{path}/header.json: {what}; {seals.again(path)}")
