"""Processes that begin with their slow imports done: a helper imports once what takes seconds, and forks for each call.

Each call has a process, an environment and an output of its own, as a program has that is started; it may be killed.
Nothing of this package is imported beforehand: a process finds the package as a new one would. Only dry runs of one and
the same Snakefile are made one after the other in one process: they change nothing, and Snakemake reads its rules anew.
"""

import atexit
import contextlib
import io
import multiprocessing
import os
import subprocess
import sys
import tempfile
from functools import cache
from multiprocessing import reduction

SLOW = ["torch._dynamo", "numba", "pandas", "jsonschema", "safetensors.torch", "tokenizers"]
SLOW += ["smart_open", "snakemake.cli", "snakemake.report.html_reporter"]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(SLOW)


def call(function, *arguments, timeout=600, environment=None) -> subprocess.CompletedProcess:
    """Call a function in a process of its own, to its end; all output in stdout."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        with open(os.devnull) as nothing:
            process = start(function, *arguments, environment=environment, files=(nothing, output, output))
        process.join(timeout)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(str(function), timeout)
        output.seek(0)
        return subprocess.CompletedProcess([function, *arguments], process.exitcode, output.read())


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
    streams = (open(0), open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8", buffering=1))  # noqa: SIM115
    sys.stdin, sys.stdout, sys.stderr = streams
    function(*arguments)


def snakemake_command(*arguments, folder=None):
    """The command `snakemake`, in a folder."""
    from snakemake.cli import main

    os.chdir(folder or os.getcwd())
    sys.argv = ["snakemake", *arguments]
    main()


def dry_run(*arguments, timeout=600, environment=None) -> subprocess.CompletedProcess:
    """The same for a dry run, in the process of all dry runs."""
    asking = _dry_runs()
    asking.send((arguments, dict(environment or os.environ)))
    if not asking.poll(timeout):
        raise subprocess.TimeoutExpired(["snakemake", *arguments], timeout)
    return subprocess.CompletedProcess(["snakemake", *arguments], *asking.recv())


@cache
def _dry_runs():
    """The end of a pipe to the process of all dry runs, which ends with this one."""
    asking, answering = CONTEXT.Pipe()
    CONTEXT.Process(target=_answer, args=(answering,)).start()
    answering.close()
    atexit.register(asking.close)
    return asking


def _answer(answering):
    """Make dry runs as they are asked for, each with the environment, folder and path of a new process."""
    path, folder = list(sys.path), os.getcwd()
    while answering.poll(None):
        try:
            arguments, environment = answering.recv()
        except EOFError:
            return
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:], said, code = path, io.StringIO(), 0
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                snakemake_command(*arguments, folder=folder)
            except SystemExit as end:
                code = end.code or 0
        answering.send((code, said.getvalue()))
