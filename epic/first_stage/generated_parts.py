"""Queries that were generated before an interruption: parts of a shard, each written whole, so that a killed job goes on.

FOLDER/KEY/000000002000-000000004000.txt    queries of the passages at these positions: a line with the sha256 of what follows,
                                            then a line for each query, all of a passage one below the other

KEY stands for settings, code and inputs: a job with others starts over and leaves these parts alone. They stay until Snakemake
has recorded the shard (epic.planning.repair).
"""

import hashlib
import importlib.metadata
import json
import logging
from pathlib import Path

from epic.core.files import replacing, sha256_of

log = logging.getLogger(__name__)
LIBRARIES = ("torch", "transformers", "tokenizers")


def key_of(settings, paths) -> str:
    """Return a digest of all that must not change before a shard goes on: settings, code, libraries, and all inputs' bytes."""
    files = [file for path in map(Path, paths) for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    sums = [sha256_of(file) for file in files if file.is_file()]
    versions = [importlib.metadata.version(library) for library in LIBRARIES]
    return hashlib.sha256(json.dumps([settings, versions, sums], sort_keys=True).encode()).hexdigest()


class Parts:
    """The parts of one shard that are there; samples: queries of a passage."""

    def __init__(self, folder, key: str, samples: int):
        self.folder, self.samples = Path(folder, key[:16]), samples

    def read(self, positions: range) -> list[list[str]] | None:
        """Return the queries of the passages at some positions; None if they are not there, or not as they were written."""
        path = self._path(positions)
        if not path.exists():
            return None
        digest, _, content = path.read_bytes().partition(b"\n")
        lines = content.decode(errors="replace").split("\n")[:-1]
        if digest != _digest(content) or len(lines) != self.samples * len(positions):
            log.warning("%s is damaged; its passages are read once more", path)
            return None
        return [lines[first : first + self.samples] for first in range(0, len(lines), self.samples)]

    def write(self, positions: range, queries: list[list[str]]) -> None:
        """Write the queries of the passages at some positions."""
        content = "".join(f"{query}\n" for some in queries for query in some).encode()
        with replacing(self._path(positions)) as draft:
            draft.write_bytes(_digest(content) + b"\n" + content)

    def _path(self, positions: range) -> Path:
        return self.folder / f"{positions.start:012d}-{positions.stop:012d}.txt"


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
