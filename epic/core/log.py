"""Logs that show the failure."""

import ctypes
import io
import logging
import os
import signal
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

from epic.core.files import InputError

PR_SET_PDEATHSIG = 1
SCREEN = "EPIC_CONSOLE"  # in a job's environment: the screen is Snakemake's, "live" if it is a terminal
ERROR = "error: "  # begins the last line of the log of a job that failed
BAR = ".progress"  # ends the name of a file beside a log, with the state of its progress bar
BAR_FORMAT = "{desc} {percentage:.0f} %, {remaining} left"

_bar = None  # where progress bars go instead of the screen


@contextmanager
def log_to(path):
    """Send log records and the traceback of a failure to `path`, and to stderr unless the screen belongs to Snakemake.

    A failure's last line in the log is its reason alone, and the job ends without a second traceback.
    """
    _die_with_parent()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    screen = os.environ.get(SCREEN)
    with open(path, "w", encoding="utf-8", buffering=1) as stream:
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
            reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            stream.write(f"{ERROR}{reason}\n")
            if not screen:
                sys.stderr.write(f"{ERROR}{reason}\n")
            raise SystemExit(1) from error


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
        file.unlink(missing_ok=True)


class _Bar(io.TextIOBase):
    """A file that holds only the last state of a progress bar."""

    def __init__(self, path: Path):
        self.path = path

    def write(self, text: str) -> int:
        if text.strip():
            self.path.write_text(text.strip(), encoding="utf-8")
        return len(text)


def _die_with_parent() -> None:
    """Ask Linux to end this job when Snakemake is killed, so that no orphan writes beside its successor."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def progress(iterable=None, **options):
    """Show a progress bar on a terminal, with rate and time left; show nothing elsewhere."""
    from tqdm import tqdm

    if _bar is not None:
        return tqdm(iterable, **options | {"file": _bar, "bar_format": BAR_FORMAT, "mininterval": 1.0})
    return tqdm(iterable, **{"disable": None, "dynamic_ncols": True} | options)
