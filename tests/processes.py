"""Processes that begin with their slow imports done: a helper imports once what takes seconds, and forks for each call.

Each call has a process, an environment and an output of its own, as a program has that is started; it may be killed.
Nothing of this package is imported beforehand: a process finds the package as a new one would.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from multiprocessing import reduction

SLOW = ["torch._dynamo", "numba", "pandas", "jsonschema", "safetensors.torch", "tokenizers", "snakemake.cli"]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(SLOW)


def call(function, *arguments, timeout=600, environment=None) -> subprocess.CompletedProcess:
    """Call a function in a process of its own, to its end; all output in stdout."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        with open("/dev/null") as nothing:
            process = start(function, *arguments, environment=environment, files=(nothing, output, output))
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(function.__name__, timeout)
        output.seek(0)
        return subprocess.CompletedProcess([function.__name__, *arguments], process.exitcode, output.read())


def start(function, *arguments, environment=None, files=()):
    """Begin to call a function in a process of its own; `files`, open or their numbers, become its first: input, output, errors."""
    handles = [reduction.DupFd(file if isinstance(file, int) else file.fileno()) for file in files]
    process = CONTEXT.Process(target=_inside, args=(function, arguments, dict(environment or os.environ), handles))
    process.start()
    return process


def _inside(function, arguments, environment, handles):
    """What happens in the process."""
    os.environ.clear()
    os.environ.update(environment)
    for place, handle in enumerate(handles):
        os.dup2(handle.detach(), place)
    sys.stdin, sys.stdout, sys.stderr = (open(0), open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8", buffering=1))  # noqa: SIM115
    function(*arguments)


def snakemake_command(*arguments):
    """The command `snakemake`."""
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    main()
