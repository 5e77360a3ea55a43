"""Devices and precisions for tensors: a setting of the experiment, never of the machine a job lands on."""

import ctypes
import fcntl
import functools
import os
import sys
import tempfile
from pathlib import Path

import torch

from epic.core.files import InputError

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_held: list = []  # the lock of this process's graphics card
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h


def prepare(device: str, threads: int) -> str:
    """Fix threads and deterministic kernels for this process, and return the device; refuse a missing GPU."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("compute.device is cuda, but torch sees no GPU; set it to cpu, or run where there is one")
    if device == "cuda":
        device = _card()
    torch.set_num_threads(threads)
    _keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms() would import torch's compiler: a second a job
    torch.utils.deterministic.fill_uninitialized_memory = False  # no code here reads memory it has not written
    return device


@functools.cache
def _card() -> str:
    """Choose the first of several graphics cards that no other job has, named so that every thread finds it.

    A lock is held while this process lives. Snakemake counts cards, but does not assign them; on a cluster a job sees only
    its own card. If all are taken, the first is shared.
    """
    if torch.cuda.device_count() < 2:
        return "cuda"
    for card in range(torch.cuda.device_count()):
        name = f"epic-{os.getuid()}-card-{torch.cuda.get_device_properties(card).uuid}.lock"
        stream = open(Path(tempfile.gettempdir(), name), "w")  # noqa: SIM115 - it stays open
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.close()
            continue
        _held.append(stream)
        torch.cuda.set_device(card)
        return f"cuda:{card}"
    return "cuda"


def give_back_memory() -> None:
    """Ask glibc to return unused memory to the system: after many batches of many sizes it is full of holes."""
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
