"""Devices and precisions for tensors: a setting of the experiment, never of the machine a job lands on."""

import ctypes
import fcntl
import functools
import logging
import os
import stat
import sys
import tempfile
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO

import torch

from epic.core.files import InputError

log = logging.getLogger(__name__)
PRECISIONS = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
FIRST_WITH_TF32 = (8, 0)  # compute capability: A100, RTX 30 and newer
JOB = 11_000_000_000  # bytes of a card that a job is taken to need: batches are made for a card of 11 GB, with bert-base
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h


def prepare(device: str, threads: int, precision: str = "float32") -> str:
    """Fix threads, deterministic kernels and the precision of products for this process, and return the device; refuse a
    missing GPU."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("compute.device is cuda, but torch sees no GPU; set it to cpu, or run where there is one")
    if device == "cuda":
        device = _card()
    torch.set_num_threads(threads)
    _keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms() would import torch's compiler: a second a job
    torch.utils.deterministic.fill_uninitialized_memory = False  # no code here reads memory it has not written
    round_products(precision == "tf32" and _has_tf32(device))
    return device


def round_products(rounded: bool) -> None:
    """Let cards round float32 factors to 10 bits before they multiply (TF32), or not; for all threads of this process.

    The older of torch's two switches: it sets both, while the newer one leaves readers of the older with an error.
    """
    torch.backends.cuda.matmul.allow_tf32 = rounded


@functools.cache
def _has_tf32(device: str) -> bool:
    """Tell whether a device multiplies in TF32; say once if it does not."""
    found = device.startswith("cuda") and torch.cuda.get_device_capability(device) >= FIRST_WITH_TF32
    if not found:
        log.info("%s has no tf32; products are computed in float32", device)
    return found


@functools.cache
def _card() -> str:
    """Choose the graphics card that has the fewest jobs and memory for one more, named so that every thread finds it.

    Snakemake counts the jobs on cards, but does not assign them; on a cluster a job sees only its own card. A card has a place
    for each job that fits into its memory, and the lock of a place is held while this process lives. If all are taken, or
    nothing can be locked, the first card is shared.
    """
    try:
        folder = _own_folder()
        with _turn(folder):
            places = {card: _free_places(card, folder) for card in range(torch.cuda.device_count())}
            free = [card for card in places if any(places[card])]
            chosen = min(free, key=lambda card: places[card].count(None), default=None)
            mine = next(filter(None, places.get(chosen, [])), None)
            for place in filter(None, chain.from_iterable(places.values())):
                if place is not mine:
                    place.close()
    except OSError as error:
        log.warning("graphics cards cannot be locked (%s); jobs that run at once share the first", error)
        return "cuda"
    if chosen is None:
        log.warning("no card has memory for another job of %d GB; the first is shared", JOB // 10**9)
        return "cuda"
    _card.place = mine  # as long as this process lives
    torch.cuda.set_device(chosen)
    return f"cuda:{chosen}"


def _free_places(card: int, folder: int) -> list[IO | None]:
    """Lock the places of a card, one for each job that its memory holds; None stands for one that another job has.

    The whole memory counts, not what is free: asking for that would take some of it on every card.
    """
    facts = torch.cuda.get_device_properties(card)
    return [_locked(f"card-{facts.uuid}-{place}.lock", folder) for place in range(max(1, facts.total_memory // JOB))]


@contextmanager
def _turn(folder: int):
    """Let one job choose at a time: two would take each other's attempts for jobs."""
    with _opened("choosing.lock", folder) as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def _own_folder() -> int:
    """Open this user's own folder for locks in the temporary folder, where others may have put a link of that name."""
    path = Path(tempfile.gettempdir(), f"epic-{os.getuid()}")
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    state = os.fstat(folder)
    if state.st_uid != os.getuid() or state.st_mode & 0o077:
        os.close(folder)
        raise PermissionError(f"{path} is not this user's alone")
    return folder


def _opened(name: str, folder: int) -> IO:
    """Open a file of an opened folder to lock it; refuse a link, write nothing."""
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, mode=0o600, dir_fd=folder)
    state = os.fstat(handle)
    if state.st_uid != os.getuid() or not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise PermissionError(f"{name} is not a file of this user's")
    return open(handle, "r+b", buffering=0)


def _locked(name: str, folder: int) -> IO | None:
    """Lock such a file until it is closed or this process ends; None if another process has."""
    file = _opened(name, folder)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def out_of_memory(error: Exception) -> bool:
    """Tell whether memory ran out, on a card or on the machine: torch has a class of its own only for the former."""
    said = ("DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(words in str(error) for words in said)


def give_back_memory() -> None:
    """Return unused memory to the system, a card's too: after many batches of many sizes it is full of holes."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)


def _keep_memory() -> None:
    """Ask glibc to keep freed blocks of up to 32 MB: tensors come and go, and fresh pages cost up to a tenth of training's time.

    Larger blocks return to the system at once: if kept, they leave gaps that nothing fits into, and memory grows.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        for option, value in ((M_MMAP_THRESHOLD, 32 << 20), (M_TRIM_THRESHOLD, 512 << 20)) if mallopt else ():
            mallopt(option, value)
