"""Repair before a run: outputs that were damaged since they were written are set aside, so that they are made again.

Snakemake looks at the time of an output, not at its content: it would use a shard that was cut off, or a row that was
overwritten. Outputs are compared with their seals: files of up to WHOLE bytes completely, larger ones by their size, unless they
are newer than the seal or a job has refused them. `epic verify` compares all bytes.

A killed job's drafts are removed when the next job writes the same file on the same machine. A cluster may use another
machine, so drafts that were not written to for a day are removed here.
"""

import logging
import shutil
import time
from contextlib import suppress
from pathlib import Path

from epic.core import seals
from epic.core.discarded import was_discarded
from epic.core.files import DRAFT, InputError, remove, size_of

log = logging.getLogger(__name__)
WHOLE = 256 * 2**20  # bytes; a tenth of a second
DAY = 24 * 3600
STATES = {
    "train/*": "checkpoint",
    "regress/*": "checkpoint",
    "generate/*/*/*": "",
    "retrieve/*/*.run": "",
}  # below state/, and what is made of it at the same place of the results


def mend(results) -> list[Path]:
    """Set damaged outputs below a folder of results aside, and return them."""
    remove_drafts(results)
    found = []
    for output in seals.sealed_below(results):
        if not output.exists():
            continue
        if difference := _difference(output):
            kept = seals.set_aside(output, keep=size_of(output) <= WHOLE)
            where = f"it was set aside as {kept}" if kept else "it was removed"
            log.warning("%s; %s, and is made again where it is needed", difference, where)
            found.append(output)
    return found


def _difference(output: Path) -> str | None:
    """Say how an output differs from what was written; what was compared without need is not compared again."""
    sealed, suspect = seals.sealed_at(output), seals.was_refused(output)
    newer = []

    def reads(file: Path) -> bool:
        if suspect or file.stat().st_mtime_ns > sealed:
            newer.append(file)
        return bool(newer) or file.stat().st_size <= WHOLE

    try:
        difference = seals.difference_of(output, reads)
    except InputError as error:  # the seal itself is damaged
        return str(error)
    if newer and not difference:
        seals.confirm(output)
    return difference


def verify(path) -> str:
    """Compare all bytes of an output, of all outputs in a folder, or of a vector store; say what was compared."""
    path = Path(path)
    if (path / seals.HEADER).exists() and not was_discarded(path):
        from epic.vectors.store import Store  # it brings numba, which Snakemake does not need to read the rules

        store = Store(path)
        store.verify()
        return f"{path}: {len(store)} vectors of {store.keep} terms, as they were written"
    own = seals.sealed_output(path)
    outputs = [own] if own else list(seals.sealed_below(path))
    if not outputs:
        raise InputError(f"{path} has no seal, and nothing in it has one; only what a stage wrote can be compared")
    for output in outputs:
        if output.exists():
            seals.check([output], whole=True)
    gone = sum(map(was_discarded, outputs))
    less = f"; the vectors of {gone} of them were removed after use" if gone else ""
    return f"{path}: {'1 output, as it was' if len(outputs) == 1 else f'{len(outputs)} outputs, as they were'} written{less}"


def remove_drafts(results) -> None:
    """Remove files that jobs on any machine began to write and left."""
    for draft in sorted(Path(results).glob(f"*/**/.*{DRAFT}")):
        with suppress(FileNotFoundError):  # its job is alive, and is done with it
            written = max(path.stat().st_mtime for path in (draft, *draft.rglob("*")))
            if written < time.time() - DAY:
                remove(draft)
                log.warning("%s: left by a job that was killed; it was removed", draft)


def remove_states(results) -> list[Path]:
    """Remove the states below `results` whose checkpoints or shards are there, and return them."""
    done = []
    for states in sorted(Path(results).glob("*/state")):
        for pattern, made in STATES.items():
            found = [
                state for state in sorted(states.glob(pattern)) if (states.parent / state.relative_to(states) / made).exists()
            ]
            for state in found:
                shutil.rmtree(state)
                _remove_empty(state.parent, states)
            done += found
    return done


def _remove_empty(folder: Path, last: Path) -> None:
    """Remove a folder and those above it, up to the last, as long as they are empty: another run's state may be in one."""
    while folder.is_relative_to(last) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
