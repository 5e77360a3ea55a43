"""Compiled kernels: numba, cached on disk, or not cached if no folder can be written to."""

import logging

import numpy as np
from numba import njit

log = logging.getLogger(__name__)
# numba has no float16 on the CPU: kernels read 16-bit patterns and widen them by this table.
WIDE = np.arange(65_536, dtype=np.uint16).view(np.float16).astype(np.float32)  # (65536,)


def compiled(function):
    """Compile on first use, for this machine, without the interpreter's lock, so that threads run side by side.

    The result is kept beside the source, or in the user's cache if the source is read-only (numba's own order;
    NUMBA_CACHE_DIR goes before both), until the function's file changes: so a kernel calls only code of its own
    file. If no folder can be written to, each process compiles for itself.
    """
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError as error:  # numba found no folder to write to
        log.debug("%s is compiled in every process: %s", function.__name__, error)
        return njit(nogil=True)(function)
