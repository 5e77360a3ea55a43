"""Two cores: shards encoded side by side, each by a process with one thread, as experiments do; and one process with two threads."""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import torch

from epic.experiment.settings import EncodeSettings
from epic.model.device import prepare
from epic.model.epic import EpicModel
from epic.vectors.encode import encode_shard
from epic.vectors.store import Store
from epic.vectors.tokenise import Spoken
from tests.bench import inputs
from tests.bench.equality import same_vectors
from tests.bench.measure import Way, status, trimmed, versus
from tests.bench.works import BLOCK, KEEP, PIECES

SETTINGS = EncodeSettings(keep=[KEEP], token_budget=32 * PIECES, vocabulary_block=BLOCK)
MISSING = "encode-2-cores: left out, since this process may use only one"
SHARDS = ("1-of-2", "2-of-2")


class Twice:
    """A collection of passages that are all there a second time, so that both shards are the same work."""

    def __init__(self, texts: list[str]):
        self.texts = texts

    def __len__(self) -> int:
        return 2 * len(self.texts)

    def span(self, positions: range) -> Iterator[tuple[str, str]]:
        return ((str(place), self.texts[place % len(self.texts)]) for place in positions)


class Worker:
    """The job that encodes shards, in a process of its own; the model is loaded once."""

    model: EpicModel

    @classmethod
    def load(cls, checkpoint: Path) -> None:
        prepare("cpu", threads=1)
        cls.model = EpicModel.from_pretrained(checkpoint)

    @classmethod
    def encode(cls, texts: list[str], shard: str, out: Path) -> float:
        """Write a shard's vectors, and return by how many MB memory grew meanwhile."""
        resident = trimmed()
        encode_shard(cls.model, "bench", Spoken(cls.model.tokenizer, Twice(texts), shard), SETTINGS, out)
        return (status("VmHWM") - resident) / 1024


def two_cores(name: str, model: EpicModel, folder: Path, count: int, rounds: int):
    """Two shards of so many passages each, one after the other and side by side; and in one process with one thread and with two."""
    if len(os.sched_getaffinity(0)) < 2:
        print(MISSING, flush=True)
        return
    texts = list(inputs.texts(count, inputs.typical_seed(count, count)).values())
    checkpoint = folder / f"cores-{name}"
    model.save_pretrained(checkpoint)
    yield _side_by_side(name, checkpoint, texts, folder, rounds)
    yield _in_threads(name, model, texts, folder, rounds)


def _side_by_side(name: str, checkpoint: Path, texts: list[str], folder: Path, rounds: int):
    """Both shards by one process, against one shard by each of two; loading the program is not timed."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(_worker(checkpoint)) for _ in range(2))

        def encoded(workers, to: Path):
            places = [to.with_name(f"{to.name}-{shard}") for shard in SHARDS]
            jobs = [worker.submit(Worker.encode, texts, *job) for worker, *job in zip(workers, SHARDS, places, strict=True)]
            return places, [job.result() for job in jobs]

        def alone():
            return encoded([first, first], folder / "alone")

        def beside():
            return encoded([first, second], folder / "beside")

        for worker in (first, second):
            worker.submit(Worker.encode, texts[:2], SHARDS[0], folder / "warm").result()  # what is compiled is compiled now
        return versus(
            Way(alone, 2 * len(texts), peak=lambda found: max(found[1])),
            Way(beside, 2 * len(texts), peak=lambda found: sum(found[1])),
            rounds,
            equal=lambda left, right: [_content(path) for path in left[0]] == [_content(path) for path in right[0]],
            clock=perf_counter,
            work="encode-2-cores",
            model=name,
            r=KEEP,
        )


def _in_threads(name: str, model: EpicModel, texts: list[str], folder: Path, rounds: int):
    """One shard by one process, with one thread and with two."""

    def encoded(out: Path) -> Store:
        encode_shard(model, "bench", Spoken(model.tokenizer, Twice(texts), SHARDS[0]), SETTINGS, out)
        return Store(out)

    found = versus(
        Way(lambda: encoded(folder / "thread"), len(texts), before=lambda: torch.set_num_threads(1)),
        Way(lambda: encoded(folder / "threads"), len(texts), before=lambda: torch.set_num_threads(2)),
        rounds,
        equal=lambda left, right: same_vectors(_as_file(left), right.terms, right.weights),
        clock=perf_counter,
        work="encode-2-threads",
        model=name,
        r=KEEP,
    )
    torch.set_num_threads(1)
    return found


def _worker(checkpoint: Path) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=Worker.load, initargs=(checkpoint,))


def _content(path: Path) -> str:
    """A digest of a store's files."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()


def _as_file(store: Store) -> bytes:
    """A store in the authors' file format."""
    import numpy as np

    return np.concatenate([store.terms, store.weights.view(np.uint16)], axis=1).tobytes()
