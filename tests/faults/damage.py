"""Files of a finished run that were flipped or cut since, with their times kept: what reads them must notice."""

import os
import random
import zlib
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults.folder import ROWS, TABLE, Folder
from tests.faults.outcome import Outcome, Trial, judged

LATE = ("rerank", "evaluate", "rows")
ALL = ("train", "encode", "prune", "weigh", "tune", "latency", *LATE)


class Kind(NamedTuple):
    """A kind of file, where it is, and the stages that are made again to have it read."""

    name: str
    pattern: str  # below the working directory
    forget: tuple[str, ...]
    targets: tuple[str, ...] = tuple(ROWS)


MINE = "results/mine"
KINDS = [
    Kind("shard: terms that a store names", f"{MINE}/encode/paper/2-of-2/[12]0/terms*", LATE),
    Kind("shard: weights that a store names", f"{MINE}/encode/paper/2-of-2/[12]0/weights*", LATE),
    Kind("checkpoint: tokenizer", f"{MINE}/train/paper/checkpoint/tokenizer.json", ("weigh", *LATE)),
    Kind("store: header", f"{MINE}/prune/paper/20/header.json", LATE),
    Kind("shard: checksums of rows", f"{MINE}/encode/paper/2-of-2/20/sums*", ("prune", *LATE)),
    Kind("shard: terms of another store", f"{MINE}/encode/paper/2-of-2/30/terms*", ("prune", *LATE)),
    Kind("shard: header", f"{MINE}/encode/paper/1-of-2/header.json", ("prune", *LATE)),
    Kind("encoder: weights", f"{MINE}/encoder/*/model.safetensors", ALL),
    Kind("encoder: tokenizer", f"{MINE}/encoder/*/tokenizer.json", ALL),
    Kind("checkpoint: weights", f"{MINE}/train/paper/checkpoint/model.safetensors", ("weigh", *LATE)),
    Kind("checkpoint: config", f"{MINE}/train/paper/checkpoint/*config*.json", ("weigh", *LATE)),
    Kind("ir_datasets: texts", "store/epic/*/docs.pklz4/bin", LATE),
    Kind("ir_datasets: positions", "store/epic/*/docs.pklz4/bin.pos", LATE),
    Kind("ir_datasets: ids", "store/epic/*/docs.pklz4/idx*", LATE),
    Kind("queries", f"{MINE}/data/test.queries.tsv", ("retrieve/bm25/test.run", "weigh/paper/test.jsonl", *LATE)),
    Kind("judgments", f"{MINE}/data/test.qrels.txt", ("evaluate", "rows")),
    Kind("triples", f"{MINE}/triples/*/triples.tsv", ALL),
    Kind("index", f"{MINE}/index/bm25/*", ("retrieve/bm25/test.run", *LATE)),
    Kind("run of a first stage", f"{MINE}/retrieve/bm25/test.run", LATE),
    Kind("run re-ranked", f"{MINE}/rerank/epic-bm25-full/test.run", ("evaluate", "rows")),
    Kind("query vectors", f"{MINE}/weigh/paper/test.jsonl", LATE),
    Kind("cut-off", f"{MINE}/tune/paper/bm25.json", LATE),
    Kind("per-query values", f"{MINE}/evaluate/epic-bm25-full/test.tsv", ("rows",)),
    Kind("manifest", f"{MINE}/data/manifest.json", LATE),
    Kind("rows", f"{MINE}/rows/epic-bm25-full.json", ("table.json", "table.md", "table.tex", "table.csv"), (TABLE,)),
]


def flip(data: bytes, chance: random.Random) -> bytes:
    """Flip one bit."""
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def digit(data: bytes, chance: random.Random) -> bytes:
    """Change one digit of a text to another; of other data, a byte."""
    places = [place for place, byte in enumerate(data) if byte in b"123456789"] or list(range(len(data)))
    place = chance.choice(places)
    return data[:place] + (b"8" if data[place] != ord("8") else b"3") + data[place + 1 :]


def cut(data: bytes, chance: random.Random) -> bytes:
    """Cut the end off, anywhere."""
    return data[: chance.randrange(len(data))]


def cut_line(data: bytes, chance: random.Random) -> bytes:
    """Cut the end off behind a line, so that the rest is well-formed; data without lines, in the middle."""
    ends = [place + 1 for place, byte in enumerate(data[:-1]) if byte == 10]
    return data[: chance.choice(ends)] if ends else data[: len(data) // 2]


def zeros(data: bytes, chance: random.Random) -> bytes:
    """Put zeros in the place of the last half, as a file system does that lost its data and kept its length."""
    return data[: len(data) // 2] + bytes(len(data) - len(data) // 2)


def nothing(data: bytes, chance: random.Random) -> bytes:
    """Leave nothing."""
    return b""


WAYS = [flip, cut_line, zeros], [digit, cut, nothing]  # the one and the other by turns


def trials(base: Folder, place: Path, rounds: int = 1) -> list[Trial]:
    """List all trials; base: a finished run, place: where copies are made."""
    whole = base.results(*ROWS, TABLE)
    return [
        Trial(f"damaged {kind.name}", f"{way.__name__} {number}", partial(damaged, base, place, whole, kind, way, number))
        for place_in_list, kind in enumerate(KINDS)
        for number, way in enumerate(way for turn in range(rounds) for way in WAYS[(place_in_list + turn) % 2])
    ]


def damaged(base: Folder, place: Path, whole: dict, kind: Kind, way, number: int) -> Outcome:
    """Damage one file of a copy, run again what reads it, and look at what comes out."""
    chance = random.Random(zlib.crc32(f"{kind.name} {way.__name__} {number}".encode()))
    folder = base.copied(place / f"damage-{KINDS.index(kind)}-{number}")
    files = [path for path in sorted(folder.path.glob(kind.pattern)) if path.is_file() and path.stat().st_size]
    if not files:
        raise AssertionError(f"there is no {kind.pattern}")
    file = chance.choice(files)
    state, data = file.stat(), file.read_bytes()
    for _ in range(100):
        if (changed := way(data, chance)) != data:
            break
    file.write_bytes(changed)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    folder.forget(*kind.forget)
    by = "snakemake" if kind.forget and number % 2 == 0 else "run"  # a job that reads it refuses it; the other mends it first
    told = folder.run(*kind.targets, by=by)
    relative = file.relative_to(folder.path)
    names = (str(relative), str(relative.parent), "store/epic")
    return judged(told, folder.results(*whole) == whole, names)
