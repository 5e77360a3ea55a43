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


def versus(
    plain: Way, ours: Way, rounds: int, equal: bool, work_of: Callable | None = None, clock=process_time, **keys
) -> Record:
    """Time both ways `rounds` times by turns; `work_of` gives the roofline's fraction from our seconds."""
    ways, seconds = {"plain": plain, "ours": ours}, {"plain": [], "ours": []}
    for turn in range(rounds):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            gc.collect()
            if ways[name].before:
                ways[name].before()
            start = clock()
            ways[name].run()
            seconds[name].append((clock() - start) / ways[name].units)
    ratios = [left / right for left, right in zip(seconds["plain"], seconds["ours"], strict=True)]
    peaks = {name: peak_mb(way) for name, way in ways.items()}
    mine = median(seconds["ours"])
    return Record(
        **({"model": None, "batch": None, "k": None, "r": None} | keys),
        plain_s=median(seconds["plain"]),
        ours_s=mine,
        ratio=median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
        plain_peak_mb=peaks["plain"],
        ours_peak_mb=peaks["ours"],
        roofline=work_of(mine) if work_of else None,
        equal=bool(equal),
    )


def peak_mb(way: Way) -> float:
    """How far memory grows while it runs: the highest resident size above that before, in MB."""
    gc.collect()
    if way.before:
        way.before()
    ctypes.CDLL(None).malloc_trim(0)  # what earlier work has freed but malloc has kept
    Path("/proc/self/clear_refs").write_text("5")  # the highest size starts anew
    before = _status("VmRSS")
    way.run()
    return round((_status("VmHWM") - before) / 1024, 1)


def _status(key: str) -> int:
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


def matrix_rate() -> float:
    """Floating point operations per second of a large matrix product, one thread, the median of some."""
    import torch

    size = 2048
    left, right, out = (torch.rand(size, size) for _ in range(3))
    torch.mm(left, right, out=out)
    return 2 * size**3 / median(_seconds(lambda: torch.mm(left, right, out=out)) for _ in range(9))


def copy_rate() -> float:
    """Bytes copied per second, from memory to memory, the median of some."""
    import numpy as np

    source = np.ones(1 << 28, dtype=np.uint8)
    target = np.zeros_like(source)
    return len(source) / median(_seconds(lambda: np.copyto(target, source)) for _ in range(9))


def _seconds(run) -> float:
    start = process_time()
    run()
    return process_time() - start
