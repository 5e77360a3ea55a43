"""The speed of encoding passages; in files of its own, since it is never the same twice."""

from pathlib import Path

from epic.core.files import read_json, write_json
from epic.core.machine import machine


def pace(done: int, total: int, seconds: float) -> str:
    """Describe progress, rate and time left: for logs, where no progress bar is shown."""
    rate = done / max(seconds, 1e-9)
    return f"{done} of {total} passages, {rate:.1f} passages/s, {(total - done) / rate / 60:.1f} minutes left"


def write_pace(seconds: float, compute: dict, shard, out) -> None:
    """Write a shard's time, with the machine, into a file beside the shard, which is the same each time."""
    documents = read_json(Path(shard) / "header.json")["documents"]
    write_json(out, {"documents": documents, "seconds": seconds, "compute": compute, "machine": machine()})
