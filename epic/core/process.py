"""Processes: which one is meant, whether it has ended, and jobs that end with the run that started them.

A number alone names no process: it is given again, every boot and every container counts anew, and the processes of
another host or container cannot be seen. What cannot be seen is never taken for ended.
"""

import ctypes
import functools
import os
import platform
import select
import signal
import sys
import threading
from pathlib import Path
from typing import NamedTuple

RUN = "EPIC_RUN"  # in a job's environment: the Snakemake that started it
PR_SET_PDEATHSIG = 1
OF_THE_MACHINE = "pid:[4026531836]"  # Linux's own number for the processes that are in no container


class Process(NamedTuple):
    """A process, named so that nobody takes another one for it."""

    host: str
    machine: str  # /etc/machine-id
    boot: str
    namespaces: str  # in which the number and the time count
    number: int
    started: int  # in clock ticks after boot


def process_of(number: int | None = None) -> Process:
    """Return the name of a process of this host, by default of this very process; it must be alive."""
    number = os.getpid() if number is None else number
    namespaces = " ".join(_link(f"/proc/self/ns/{kind}") for kind in ("pid", "time"))
    boot, machine = _text("/proc/sys/kernel/random/boot_id"), _text("/etc/machine-id")
    return Process(platform.node(), machine, boot, namespaces, number, _state(number)[1])


def has_ended(process: Process) -> bool | None:
    """Tell whether a process has ended; None if that cannot be known from here."""
    here = process_of()
    if process.host != here.host or not here.boot:
        return None
    if process.boot != here.boot:  # the host was started anew, if it is the same one: containers share names and addresses
        same = process.machine == here.machine != "" and process.namespaces == here.namespaces
        return True if same and here.namespaces.startswith(OF_THE_MACHINE) else None
    if process.namespaces != here.namespaces:
        return None
    try:
        os.kill(process.number, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's, and /proc may hide it
        pass
    letter, started = _state(process.number)
    return letter in ("Z", "X") or (started > 0 and started != process.started)


def name_run() -> str:
    """Return this process in the form in which jobs find it in their environment."""
    this = process_of()
    return f"{this.number}/{this.started}/{this.boot}/{this.namespaces}"


def end_with_run() -> None:
    """End this job together with the Snakemake that started it, and at once if that has ended already.

    So no orphan writes beside its successor. Linux sends the signal when the parent ends from now on. The parent may be a
    shell that outlives Snakemake, so a thread waits for the end of Snakemake itself.
    """
    if sys.platform != "linux":
        return
    _libc().prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    run = _named(os.environ.get(RUN, ""))
    if run is None:
        return
    try:
        handle = None if os.getppid() == run.number else os.pidfd_open(run.number)
    except OSError:  # it has ended, or Linux is older than 5.3
        handle = None
    if has_ended(run):
        raise SystemExit("the Snakemake that started this job has ended; nothing was written")
    if handle is not None:
        threading.Thread(target=_end_after, args=(handle,), daemon=True).start()


def ending_with_this() -> dict:
    """Return options for `subprocess` with which a child, such as Java, is killed when this process ends, in whatever way."""
    return {"preexec_fn": functools.partial(_end_with, os.getpid(), _libc())} if sys.platform == "linux" else {}


def _end_with(parent: int, libc) -> None:
    """Run in a child before its program starts."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _end_after(handle: int) -> None:
    """Wait for the end of a process, then end this one."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.poll()
    os.kill(os.getpid(), signal.SIGTERM)


def _named(text: str) -> Process | None:
    """Return the process that `name_run` named, or None if it is one of another host or container."""
    number, _, rest = text.partition("/")
    started, _, where = rest.partition("/")
    here = process_of()
    if where != f"{here.boot}/{here.namespaces}":
        return None
    return here._replace(number=int(number), started=int(started))


@functools.cache
def _libc():
    return ctypes.CDLL(None)


def _state(number: int) -> tuple[str, int]:
    """Return the letter of a process's state and when it started; nothing and 0 if it cannot be seen."""
    fields = _text(f"/proc/{number}/stat").rpartition(")")[2].split()  # a program's name may contain anything
    return (fields[0], int(fields[19])) if len(fields) > 19 else ("", 0)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
