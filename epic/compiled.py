"""Compiled kernels: numba, cached on disk, and without the cache where no folder can be written to."""

import logging

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

log = logging.getLogger(__name__)


def compiled(function):
    """Compile on first use, for this machine, without the interpreter's lock, so that threads run side by side.

    The result is kept beside the source, or in the user's cache where the source is read-only (numba's own order;
    NUMBA_CACHE_DIR goes before both). With no such place a process compiles for itself.
    """
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError as error:  # numba found no place to write to
        log.debug("%s is compiled in every process: %s", function.__name__, error)
        return njit(nogil=True)(function)


@intrinsic
def prefetch(_, array, row, column):
    """Inside a kernel: fetch the cache line that holds array[row, column], and do not wait for it."""

    def generate(context, builder, signature, arguments):
        kind, place, number = signature.args[0], ir.IntType(8).as_pointer(), ir.IntType(32)
        struct = make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, struct, list(arguments[1:]), wraparound=False)
        signature_of = ir.FunctionType(ir.VoidType(), [place, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, signature_of, "llvm.prefetch.p0i8")
        read, keep, data = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(pointer, place), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
