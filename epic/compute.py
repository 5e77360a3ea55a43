"""Where and how tensors are computed: a setting of the experiment, never of the machine a job lands on."""

import ctypes
import os
import sys

import torch

from epic.files import InputError

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # malloc.h


def prepare(device: str, threads: int) -> str:
    """Fix threads and deterministic kernels for this process, and return the device; a missing GPU is an error."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("compute.device is cuda, but torch sees no GPU; set it to cpu, or run where there is one")
    torch.set_num_threads(threads)
    _keep_memory()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # nothing here reads memory it has not written
    return device


def _keep_memory() -> None:
    """Ask glibc to keep freed memory: large tensors come and go, and fresh pages cost a quarter of the time of training."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        for option, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, -1), (M_TOP_PAD, 1 << 28)) if mallopt else ():
            mallopt(option, value)
