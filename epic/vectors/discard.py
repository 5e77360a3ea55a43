"""Vectors that are not kept: removed once everything that reads them is there."""

import logging

from epic.core.discarded import discard
from epic.core.files import write_json

log = logging.getLogger(__name__)


def discard_vectors(folders: list, again: str, out) -> None:
    """Remove the vectors of shards and stores, and write how many bytes that were; headers, counts and scores stay."""
    total = sum(discard(folder, again) for folder in folders)
    write_json(out, {"bytes": total, "again": again})
    log.info("%.1f GB of vectors removed; to make them again: %s", total / 1e9, again)
