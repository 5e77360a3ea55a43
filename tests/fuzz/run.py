"""Trying a format with mutated inputs, and what became of each: accepted and consistent, refused, or a fault of ours."""

import contextlib
import random
import resource
import shutil
import signal
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError
from tests.fuzz.formats import MOST_MEMORY, Format

SECONDS = 5  # that reading a small file may take
LONGEST = 700  # letters of a refusal, without paths
OUTCOMES = ("accepted", "refused", "unclear refusal", "nonsense", "raw exception", "hang", "memory")
FINE = {"accepted", "refused"}


class Trial(NamedTuple):
    """The outcome of one input, and what was said."""

    outcome: str
    said: str = ""


class _HangError(BaseException):
    """A read that takes too long; no code catches it by chance."""


def _expired(signum, frame):
    raise _HangError


@contextlib.contextmanager
def limited(seconds: float):
    """Raise where the block takes too long."""
    before = signal.signal(signal.SIGALRM, _expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(format: Format, path: Path) -> Trial:
    """Read an input; if it is accepted, read it again and judge it."""
    try:
        with limited(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = _peak()
            found = format.read(path)
            if _peak() - before > MOST_MEMORY:
                return Trial("memory", f"{_peak() - before} MB")
            if fault := next(iter(format.faults(found, path)), None):
                return Trial("nonsense", fault)
            return Trial("accepted") if _same(found, format.read(path)) else Trial("nonsense", "read again it is something else")
    except InputError as error:
        said = str(error)
        if _peak() - before > MOST_MEMORY:
            return Trial("memory", f"{_peak() - before} MB")
        return Trial("refused" if _is_clear(said, format, path) else "unclear refusal", said)
    except _HangError:
        return Trial("hang", f"more than {SECONDS} s")
    except Exception as error:
        return Trial("raw exception", f"{type(error).__name__}: {str(error)[:100]}")


def _peak() -> int:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000


def _same(one, other) -> bool:
    if hasattr(one, "equals"):  # a frame
        return one.equals(other)
    if hasattr(one, "tobytes"):
        return one.tobytes() == other.tobytes()
    if hasattr(one, "untyped_storage"):  # a tensor
        return one.equal(other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def _is_clear(said: str, format: Format, path: Path) -> bool:
    """A refusal names the file, and of a file of lines the line unless it speaks of the whole; and it is short."""
    whole = (
        "empty",
        "damaged gzip",
        "not valid YAML",
        "not a training history",
        "cannot be read",
        "not a table",
        "for none of the",
    )
    line = not format.lines or " line " in said or any(word in said for word in whole)
    return (
        path.name in said and line and len(said.replace(str(path.parent), "")) < LONGEST and said.isprintable() | ("\n" in said)
    )


def tried(format: Format, count: int, seed: int) -> tuple[Counter, dict[str, list[str]]]:
    """Try a format `count` times; return how often each outcome came, and examples of those that should not."""
    draw, counted, examples = random.Random(f"{format.name} {seed}"), Counter(), {}
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number in range(count):
            inside = Path(folder, "here")
            inside.mkdir()
            path = format.write(inside, draw)
            trial = attempt(format, path)
            counted[trial.outcome] += 1
            if trial.outcome not in FINE:
                examples.setdefault(trial.outcome, []).append(f"#{number}: {trial.said}")
            shutil.rmtree(inside)
    return counted, examples
