"""The files that go into a Lucene index, and its own, each of which ends with a checksum that a search does not look at."""

import zlib
from pathlib import Path

from epic.core.files import InputError

FOOTER = (0xC02893E8).to_bytes(4, "big") + bytes(4)  # Lucene's magic number, and the algorithm: CRC-32
CHECKSUM = 8  # bytes at the end, of which the last four are the CRC-32 of all before
PIECE = 1 << 20
SEGMENTS = "segments_"
LUCENE = ("_", SEGMENTS)  # names begin with; beside them lie an empty write.lock and Snakemake's time stamp
COUNT = "count"  # JSON beside the documents to index; with .json at its end, Anserini would take it for one of them


def refuse_damage(index) -> None:
    """Refuse an index with a file that is not as Lucene wrote it, or without any."""
    files = sorted(path for path in Path(index).iterdir() if path.name.startswith(LUCENE))
    if not any(path.name.startswith(SEGMENTS) for path in files):
        raise InputError(f"{index}: not a Lucene index: it has no segments_N; make it again")
    for path in files:
        if not _is_whole(path):
            raise InputError(f"{path}: not as Lucene wrote it, its checksum is another; make it again")


def _is_whole(path: Path) -> bool:
    """Compare the checksum at the end of a file with that of its contents."""
    rest, crc, last = path.stat().st_size - CHECKSUM, 0, b""
    if rest < len(FOOTER):
        return False
    with open(path, "rb") as stream:
        while rest and (piece := stream.read(min(PIECE, rest))):
            crc, last, rest = zlib.crc32(piece, crc), (last + piece)[-len(FOOTER) :], rest - len(piece)
        return last == FOOTER and stream.read() == crc.to_bytes(CHECKSUM, "big")
