"""The authors' published passage vectors, msmarco.1000.v, as a store of ours.

Their file has no header: for each passage, in the order of the collection, r term ids (int16, ascending) and then r weights
(float16). Their builder drops the last batch of eight if it is not full, so seven of MS MARCO's passages may be missing.
"""

import hashlib
import logging
import re
from pathlib import Path

import numpy as np

from epic.core.files import InputError, replacing
from epic.core.log import progress
from epic.corpus.msmarco import PASSAGES, VOCABULARY
from epic.model.checkpoint import model_digest
from epic.vectors.store import UNKNOWN
from epic.vectors.store_writer import StoreWriter

log = logging.getLogger(__name__)
MD5 = "9ea6f37cf79cf426112cc9586835781f"  # of msmarco.1000.v
LEFT_OUT = 7  # passages that do not fill a batch of eight
ROWS_AT_A_TIME = 256


def import_vectors(path, out, keep: int | None, checkpoint, md5: str | None, documents: int | None) -> None:
    """Write a store of the vectors in `path`; passages that it lacks get no vector.

    `keep` is read off the name (msmarco.1000.v) unless given; `checkpoint` is the model that made the vectors, from
    `epic import-checkpoint`; without `md5` any file is accepted, and with `documents` a file of another collection.
    """
    if Path(out).exists() and not (Path(out) / "header.json").exists():
        raise InputError(f"{out} exists and is no vector store; name a new folder")
    keep = _keep_of(path) if keep is None else keep
    if not 1 <= keep <= VOCABULARY:
        raise InputError(f"{path}: {keep} terms a passage cannot be; there are {VOCABULARY} in the vocabulary; say --keep")
    found = count_of(path, keep, documents)
    if missing := (documents or PASSAGES) - found:
        log.info(
            "the last %d passages, from %d on, have no vector in %s; a candidate among them will be refused", missing, found, path
        )
    digest, whole_file = model_digest(checkpoint) if checkpoint else UNKNOWN, hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as stream, replacing(out) as draft, progress(total=found, desc="import", unit="passage") as bar:
        writer = StoreWriter(draft, keep, VOCABULARY, digest)
        for start in range(0, found, ROWS_AT_A_TIME):
            rows = np.fromfile(stream, np.uint16, min(ROWS_AT_A_TIME, found - start) * 2 * keep).reshape(-1, 2 * keep)
            whole_file.update(rows)
            terms, weights = rows[:, :keep], rows[:, keep:].view(np.float16)  # (n, keep) each
            _check(path, start, terms, weights)
            writer.add([str(start + row) for row in range(len(rows))], terms, weights)
            bar.update(len(rows))
        if md5 and whole_file.hexdigest() != md5:
            raise InputError(
                f"{path}: md5 {whole_file.hexdigest()}, expected {md5}; fetch it again, or say --any-md5 if it is your own"
            )
        writer.close()
    log.info("%s: %d vectors of %d terms", out, found, keep)


def count_of(path, keep: int, documents: int | None) -> int:
    """Return the number of vectors in the file: those of all MS MARCO, or without the last seven, or `documents`."""
    size, record = Path(path).stat().st_size, 4 * keep
    count, rest = divmod(size, record)
    if rest:
        raise InputError(f"{path}: {size} bytes are no multiple of {record} (r={keep}); was it cut off? fetch it again")
    expected = (documents,) if documents else (PASSAGES, PASSAGES - LEFT_OUT)
    if count not in expected:
        raise InputError(
            f"{path} holds {count} vectors of {keep} terms, expected {' or '.join(map(str, expected))}; say --documents"
        )
    return count


def _keep_of(path) -> int:
    match = re.search(r"\.([0-9]{1,9})\.v\Z", str(path))
    if not match:
        raise InputError(f"{path}: the name does not say how many terms a passage has, as msmarco.1000.v does; say --keep")
    return int(match[1])


def _check(path, start: int, terms: np.ndarray, weights: np.ndarray) -> None:
    """Refuse the first passage whose term ids do not ascend within the vocabulary, or whose weights are not finite."""
    good = (terms[:, 1:] > terms[:, :-1]).all(axis=1) & (terms[:, -1] < VOCABULARY) & np.isfinite(weights).all(axis=1)  # (n,)
    if not good.all():
        place = start + int(good.argmin())
        raise InputError(f"{path}: what stands at passage {place} is no vector; is r right, and the file whole?")
