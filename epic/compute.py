"""Where and how tensors are computed: a setting of the experiment, never of the machine a job lands on."""

import os

import torch

from epic.files import InputError


def prepare(device: str, threads: int) -> str:
    """Fix threads and deterministic kernels for this process, and return the device; a missing GPU is an error."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("compute.device is cuda, but torch sees no GPU; set it to cpu, or run where there is one")
    torch.set_num_threads(threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # nothing here reads memory it has not written
    return device
