"""Timing two ways of doing one thing: in one process, by turns, on the CPU clock; and what this machine could do at best."""

import ctypes
import gc
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # malloc.h


@dataclass
class Record:
    """One line of bench.json. Seconds are medians for one unit of work, the ratio is the median of those of the rounds."""

    work: str
    model: str | None
    batch: int | None
    k: int | None
    r: int | None
    plain_s: float
    ours_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    plain_peak_mb: float
    ours_peak_mb: float
    roofline: float | None
    equal: bool

    def as_dict(self) -> dict:
        return asdict(self)


@dataclass
class Way:
    """A function that does `units` of the work."""

    run: Callable[[], object]
    units: int = 1
    before: Callable[[], object] | None = None  # what has to happen before each run, and is not timed
    peak: Callable[[object], float] | None = None  # the MB by which memory grew, of a result that knows: in other processes


def versus(
    plain: Way, ours: Way, rounds: int, equal: Callable, ceiling: Callable | None = None, clock=process_time, **keys
) -> Record:
    """Time both ways `rounds` times by turns; in the first round memory is watched, and `equal` compares the results.

    `ceiling` measures the fewest seconds that a unit of the work could take on this machine, once in every round, so that
    the fraction does not depend on what else the machine was doing.
    """
    ways, seconds, best, results, peaks = {"plain": plain, "ours": ours}, {"plain": [], "ours": []}, [], {}, {}
    for turn in range(rounds):
        if ceiling:
            best.append(ceiling())
        for name in list(ways) if turn % 2 else reversed(ways):  # ours first: what the other frees is no memory of ours
            way = ways[name]
            if way.before:
                way.before()
            resident = trimmed() if turn == 0 else None
            start = clock()
            found = way.run()
            seconds[name].append((clock() - start) / way.units)
            if turn == 0:
                results[name] = found
                peaks[name] = round(way.peak(found) if way.peak else (status("VmHWM") - resident) / 1024, 1)
            del found
    ratios = [left / right for left, right in zip(seconds["plain"], seconds["ours"], strict=True)]
    fractions = [left / right for left, right in zip(best, seconds["ours"], strict=False)]
    return Record(
        **({"model": None, "batch": None, "k": None, "r": None} | keys),
        plain_s=median(seconds["plain"]),
        ours_s=median(seconds["ours"]),
        ratio=median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
        plain_peak_mb=peaks["plain"],
        ours_peak_mb=peaks["ours"],
        roofline=median(fractions) if fractions else None,
        equal=bool(equal(results["plain"], results["ours"])),
    )


def trimmed() -> int:
    """The resident size in KB, after what earlier work has freed is given back and the highest size starts anew."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(key: str) -> int:
    """A size of this process in KB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1])


@contextmanager
def pages_kept():
    """Meanwhile glibc keeps all memory that is freed, so that large tensors cost no fresh pages: kind to the plain way."""
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    yield
    mallopt(M_MMAP_MAX, 65_536)
    mallopt(M_TRIM_THRESHOLD, 512 << 20)


def arithmetic(operations: float) -> Callable[[], float]:
    """The seconds that so many floating point operations take in a large matrix product, one thread, by the faster library."""
    import torch

    from epic.model.products import product

    size = 2048
    left, right, out = (torch.rand(size, size) for _ in range(3))

    @torch.inference_mode()
    def best() -> float:
        ways = (lambda: product(left, right), lambda: torch.mm(left, right, out=out))
        return operations * min(median(_seconds(way) for _ in range(3)) for way in ways) / (2 * size**3)

    best()  # what is allocated once
    return best


def copying(amount: float) -> Callable[[], float]:
    """The seconds that copying so many bytes from memory to memory takes, one thread."""
    import numpy as np

    source = np.ones(1 << 26, dtype=np.uint8)
    target = np.ones_like(source)
    return lambda: amount * median(_seconds(lambda: np.copyto(target, source)) for _ in range(3)) / len(source)


def reading(amount: float) -> Callable[[], float]:
    """The seconds that reading so many bytes from memory takes, one thread."""
    import numpy as np

    source = np.ones(1 << 25, dtype=np.uint64)  # 256 MB, more than any cache
    return lambda: amount * median(_seconds(source.max) for _ in range(3)) / source.nbytes


def _seconds(run) -> float:
    start = process_time()
    run()
    return process_time() - start
