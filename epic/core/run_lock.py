"""The lock of a folder of results: one run at a time, whether `make` or Snakemake started it, on this host or another.

FOLDER/.run.lock is a JSON file that names the process which works there. It appears whole or not at all. It is taken over
only if its process has certainly ended; a run on another host or in a container that cannot be seen is never disturbed.

    python -m epic.core.run_lock take FOLDER PROCESS       for a shell that becomes Snakemake
    python -m epic.core.run_lock release FOLDER PROCESS
    python -m epic.core.run_lock check FOLDER              is a run at work there?
"""

import atexit
import errno
import fcntl
import json
import logging
import os
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError
from epic.core.process import Process, has_ended, process_of

log = logging.getLogger(__name__)
NAME = ".run.lock"
WITHOUT_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)  # of file systems where a file has one name
ATTEMPTS, PAUSE = 20, 0.05


class Holder(NamedTuple):
    """What a lock says: the process that holds it, and since when."""

    process: Process
    since: str


def take(folder, number: int | None = None) -> None:
    """Take the lock for a process of this host, by default for this one; refuse if another one has it that may be alive."""
    path, holder = Path(folder, NAME), Holder(process_of(number), datetime.now().astimezone().isoformat(" ", "seconds"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, ATTEMPTS + 1):
            if _created(path, holder) or _taken_over(path, holder.process, patient=attempt < ATTEMPTS):
                return
    except OSError as error:
        raise InputError(f"{path}: this run cannot write its lock ({error.strerror}); mend that and run again") from error
    raise InputError(f"{path}: others take this lock and release it; run again")


def release(folder, number: int | None = None) -> None:
    """Remove the lock if the process, by default this one, holds it."""
    with suppress(OSError, InputError):
        _remove(Path(folder, NAME), process_of(number))


def release_at_the_end(folder) -> None:
    """Release the lock when this process ends, if it is its own then: a shell may have taken it that became this process."""
    folder, this = Path(folder).absolute(), os.getpid()
    atexit.register(lambda: release(folder) if os.getpid() == this else None)  # not in a copy of this process


def check(folder) -> None:
    """Refuse if a run that may be alive is at work in a folder of results, but for one that has started this process."""
    path = Path(folder, NAME)
    try:
        found = _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    if found.process != process_of(os.getppid()) and (reason := _in_the_way(path, found)):
        raise InputError(reason)


def _taken_over(path: Path, process: Process, patient: bool) -> bool:
    """Tell whether a lock that is there is the process's own; remove one that was left behind, and refuse any other."""
    try:
        found = _read(path)
    except FileNotFoundError:  # released meanwhile
        return False
    except InputError:
        if not patient:
            raise
        time.sleep(PAUSE)  # it may be being written, where that cannot be done at once
        return False
    if found.process == process:
        return True
    if reason := _in_the_way(path, found):
        raise InputError(reason)
    _remove(path, found.process)
    log.warning("%s: process %d, since %s, ended without removing it; it was removed", path, found.process.number, found.since)
    return False


def _in_the_way(path: Path, found: Holder) -> str | None:
    """Return why a lock stands, or None if the process that took it has ended."""
    process, ended = found.process, has_ended(found.process)
    if ended or (ended is False and _is_a_copy(path, process)):
        return None
    who = f"process {process.number} on host {process.host}, since {found.since}, holds {path}"
    if ended is False:
        return f"another run is at work in this folder: {who}; wait for it to end"
    return (
        f"another run may be at work in this folder: {who}, and it cannot be seen from here whether it has ended; "
        "wait for it, or, if you are sure that it has ended, remove that file"
    )


def _is_a_copy(path: Path, process: Process) -> bool:
    """Tell whether a lock was copied with its folder: the process that it names works in another folder, with another lock."""
    theirs = Path("/proc", str(process.number))
    try:
        if os.readlink(theirs / "ns" / "mnt") != os.readlink("/proc/self/ns/mnt"):  # paths may differ
            return False
        there = theirs / "cwd" / os.path.relpath(path)
        return not there.exists() or not there.samefile(path)
    except OSError:  # another user's process
        return False


def _created(path: Path, holder: Holder) -> bool:
    """Create a lock with its text at once, or return False if there is one."""
    text = json.dumps({"since": holder.since} | holder.process._asdict(), indent=2) + "\n"
    draft = path.with_name(f"{path.name}.{holder.process.host}-{os.getpid()}")
    try:
        _write(draft, text, os.O_TRUNC)
        os.link(draft, path)
        return True
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in WITHOUT_LINKS:
            raise
    finally:
        draft.unlink(missing_ok=True)
    try:
        _write(path, text, os.O_EXCL)
        return True
    except FileExistsError:
        return False


def _write(path: Path, text: str, how: int) -> None:
    """Write a file to the disk; others may read it, whatever the umask, since it is meant for them."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o644)
    try:
        os.write(handle, text.encode())
        with suppress(PermissionError):
            os.fchmod(handle, 0o644)
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> Holder:
    """Return what a lock says; refuse one that says nothing, since it may be a living run's."""
    try:
        return _parsed(path.read_text(encoding="utf-8"))
    except (ValueError, TypeError, KeyError, PermissionError, IsADirectoryError) as error:
        raise InputError(
            f"{path} does not say which run it is the lock of; once you are sure that no run is at work here, remove it"
        ) from error


def _parsed(text: str) -> Holder:
    facts = json.loads(text)
    return Holder(Process(*(kind(facts[name]) for name, kind in Process.__annotations__.items())), str(facts["since"]))


def _remove(path: Path, process: Process) -> None:
    """Remove the lock of one process and no other: of two that find it left behind, only one removes it."""
    with suppress(FileNotFoundError), open(path, encoding="utf-8") as stream:
        with suppress(OSError):  # of a file system without such locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        if _read(path).process == process and os.path.samestat(path.stat(), os.fstat(stream.fileno())):
            path.unlink()


def main(arguments: list[str]) -> int:
    """Run a command of a shell; a refusal prints one line."""
    command, folder, *numbers = arguments
    try:
        {"take": take, "release": release, "check": check}[command](folder, *map(int, numbers))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
