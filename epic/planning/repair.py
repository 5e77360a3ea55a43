"""Repair before a run: vectors that were damaged since they were written are removed, so that they are made again.

Snakemake looks at the time of an output, not at its content: it would use a shard that a full disk cut off, or a store
that was overwritten. A file of the size that its header promises, and not newer than the header, is taken as whole; a newer
one is compared with its checksums. `epic verify` compares all of them, whatever their time.

A killed job's drafts are removed when the next job writes the same file on the same machine. A cluster may use another
machine, so drafts that were not written to for a day are removed here.
"""

import logging
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from epic.core.files import DRAFT, InputError, read_json, remove
from epic.vectors.store import FORMAT, Store

log = logging.getLogger(__name__)
PLACES = ("*/encode/*/*-of-*", "*/prune/*/*")
DAY = 24 * 3600


def mend(results) -> list[Path]:
    """Remove damaged shards and stores below a folder of results, and return them."""
    remove_drafts(results)
    removed = []
    found = (path for place in PLACES for path in Path(results).glob(place) if path.is_dir())
    for folder in sorted(path for path in found if not path.name.startswith(".")):  # hidden ones are being written
        try:
            check(folder)
        except InputError as error:
            log.warning("%s; it was removed, and is made again where it is needed", error)
            shutil.rmtree(folder)
            removed.append(folder)
    return removed


def remove_drafts(results) -> None:
    """Remove files that jobs on any machine began to write and left."""
    for draft in sorted(Path(results).glob(f"*/**/.*{DRAFT}")):
        with suppress(FileNotFoundError):  # its job is alive, and is done with it
            written = max(path.stat().st_mtime for path in (draft, *draft.rglob("*")))
            if written < time.time() - DAY:
                remove(draft)
                log.warning("%s: left by a job that was killed; it was removed", draft)


def check(folder: Path) -> None:
    """Refuse a store that differs from what was written."""
    header = folder / "header.json"
    if of_another_format(header):
        log.warning("%s: of another version of this program; it was left as it is", folder)
        return
    store = Store(folder)
    written = header.stat().st_mtime_ns
    if any((folder / name).stat().st_mtime_ns > written for name in store.sums):
        store.verify()
        os.utime(header)  # the same bytes, copied or touched: one comparison is enough


def of_another_format(header: Path) -> bool:
    """Tell whether a store is of another format: it may be whole, and hours of encoding are not thrown away for that."""
    facts = read_json(header) if header.exists() else None
    return isinstance(facts, dict) and isinstance(facts.get("format"), str) and facts["format"] != FORMAT


def remove_states(results) -> list[Path]:
    """Remove the states below `results` whose checkpoints are there, and return them."""
    done = [
        state
        for state in sorted(Path(results).glob("*/state/train/*"))
        if (state.parents[2] / "train" / state.name / "checkpoint").exists()
    ]
    for state in done:
        shutil.rmtree(state)
        for folder in (state.parent, state.parent.parent):  # not if another run's state is in it
            if not any(folder.iterdir()):
                folder.rmdir()
    return done
