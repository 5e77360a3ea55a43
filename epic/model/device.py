"""Devices and precisions for tensors: a setting of the experiment, never of the machine a job lands on."""

import ctypes
import fcntl
import functools
import logging
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import torch

from epic.core.files import InputError

log = logging.getLogger(__name__)
PRECISIONS = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
FIRST_WITH_TF32 = (8, 0)  # compute capability: A100, RTX 30 and newer
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
    """Choose the first of several graphics cards that no other job has, named so that every thread finds it.

    A lock is held while this process lives. Snakemake counts cards, but does not assign them; on a cluster a job sees only
    its own card. If all are taken, or nothing can be locked, the first is shared.
    """
    if torch.cuda.device_count() < 2:
        return "cuda"
    try:
        folder = _own_folder()
        for card in range(torch.cuda.device_count()):
            if _lock(f"card-{torch.cuda.get_device_properties(card).uuid}.lock", folder):
                torch.cuda.set_device(card)
                return f"cuda:{card}"
    except OSError as error:
        log.warning("graphics cards cannot be locked (%s); jobs that run at once share the first", error)
    return "cuda"


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


def _lock(name: str, folder: int) -> bool:
    """Lock a file of an opened folder until this process ends, and tell whether nobody had; refuse a link, write nothing."""
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, mode=0o600, dir_fd=folder)
    state = os.fstat(handle)
    if state.st_uid != os.getuid() or not stat.S_ISREG(state.st_mode):
        os.close(handle)
        raise PermissionError(f"{name} is not a file of this user's")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    return True  # the handle stays open, and with it the lock


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
