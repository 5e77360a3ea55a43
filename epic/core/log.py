"""Logs that show the failure."""

import ctypes
import errno
import io
import logging
import os
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from epic.core.files import InputError
from epic.core.process import end_with_run

SCREEN = "EPIC_CONSOLE"  # in a job's environment: the screen is Snakemake's, "live" if it is a terminal
ERROR = "error: "  # begins the last line of the log of a job that failed
BAR = ".progress"  # ends the name of a file beside a log, with the state of its progress bar
BAR_FORMAT = "{desc} {percentage:.0f} %, {remaining} left"
FULL = (errno.ENOSPC, errno.EDQUOT)
RESERVED = 1 << 15  # bytes of a log that are there even if the disk becomes full: a traceback and a reason
KEEP_SIZE = 1  # of Linux's fallocate

_bar = None  # where progress bars go instead of the screen
_silent = False  # whether there are none


@contextmanager
def log_to(path):
    """Send log records and the traceback of a failure to `path`, and to stderr unless the screen belongs to Snakemake.

    A failure's last line in the log is its reason alone, and the job ends without a second traceback. Where the log cannot
    be written, the reason goes to the screen. A job whose Snakemake has ended ends as well, before it writes anything.
    """
    end_with_run()
    screen, own = os.environ.get(SCREEN), os.dup(2)
    with _opened(path) as stream:
        handlers = [logging.StreamHandler(stream)] if screen else [logging.StreamHandler(stream), logging.StreamHandler()]
        logging.basicConfig(level="INFO", format="%(asctime)s %(name)s %(message)s", handlers=handlers, force=True)
        logging.captureWarnings(True)
        if screen:
            _send_output_to(stream)
        try:
            with _bars_beside(path) if screen == "live" else nullcontext():
                yield
        except Exception as error:
            logging.exception("stage failed")
            text = f"{ERROR}{reason_of(error)}\n"
            if not _written(stream, text) or not screen:
                os.write(own, text.encode())
            raise SystemExit(1) from error


def reason_of(error: BaseException) -> str:
    """Return the reason of a failure in one line; libraries say in words of their own that a disk is full."""
    if isinstance(error, InputError):
        return str(error)
    cause = error
    while cause is not None:
        words = next(
            (line.strip() for line in str(cause).splitlines() if any(os.strerror(number) in line for number in FULL)), None
        )
        if words:
            return f"the disk is full: {words}; free space (df -h) or files (df -i) there, and run again: what is finished stays"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename}: this user may not read or write it ({error.strerror}); change its owner or mode, and run again"
    return f"{type(error).__name__}: {error}"


@contextmanager
def _opened(path):
    """Open a log, with some space reserved for its end; say on the screen, alone, that it cannot be written."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        raw = open(path, "wb", buffering=0)  # noqa: SIM115  nothing is held back that a full disk would make fail later
        _reserve(raw.fileno(), path)
    except OSError as error:
        raise SystemExit(f"{ERROR}{reason_of(error)}") from error
    with raw, io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True) as stream:
        try:
            yield stream
        finally:
            with suppress(OSError):
                raw.truncate(os.fstat(raw.fileno()).st_size)  # gives back what was reserved


def _reserve(handle: int, path) -> None:
    """Reserve space behind the end of a file, where Linux and the file system know how."""
    reserve = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if reserve and reserve(handle, KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(RESERVED)) and ctypes.get_errno() in FULL:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


def _written(stream, text: str) -> bool:
    """Write a text to its last byte, or return False: a full disk takes the beginning."""
    rest = text.encode()
    with suppress(OSError):
        while rest:
            rest = rest[os.write(stream.fileno(), rest) :]
    return not rest


def _send_output_to(stream) -> None:
    """Let everything that this process and its children print go to a file: libraries and Java print, too."""
    for number in (1, 2):
        os.dup2(stream.fileno(), number)


@contextmanager
def _bars_beside(path):
    """Keep the state of progress bars in a file beside the log, where the live line of the screen finds it."""
    global _bar
    file = Path(f"{path}{BAR}")
    try:
        with _Bar(file) as _bar:
            yield
    finally:
        _bar = None
        with suppress(OSError):
            file.unlink()


class _Bar(io.TextIOBase):
    """A file that holds only the last state of a progress bar."""

    def __init__(self, path: Path):
        self.path = path

    def write(self, text: str) -> int:
        if text.strip():
            with suppress(OSError):  # a disk that is full is no reason to fail for a bar
                self.path.write_text(text.strip(), encoding="utf-8")
        return len(text)


@contextmanager
def without_bars():
    """Show no progress bars meanwhile: for calls that are over before anybody could read one."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


def progress(iterable=None, **options):
    """Show a progress bar on a terminal, with rate and time left; show nothing elsewhere."""
    from tqdm import tqdm

    if _silent:
        return tqdm(iterable, **options | {"disable": True})
    if _bar is not None:
        return tqdm(iterable, **options | {"file": _bar, "bar_format": BAR_FORMAT, "mininterval": 1.0})
    return tqdm(iterable, **{"disable": None, "dynamic_ncols": True} | options)
