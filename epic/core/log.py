"""Logs that show the failure."""

import ctypes
import logging
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

PR_SET_PDEATHSIG = 1


@contextmanager
def log_to(path):
    """Send log records, and the traceback of a failure, to `path` and stderr."""
    _die_with_parent()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handlers = [logging.FileHandler(path, mode="w", encoding="utf-8"), logging.StreamHandler()]
    logging.basicConfig(level="INFO", format="%(asctime)s %(name)s %(message)s", handlers=handlers, force=True)
    logging.captureWarnings(True)
    try:
        yield
    except Exception:
        logging.exception("stage failed")
        raise


def _die_with_parent() -> None:
    """Ask Linux to end this job when Snakemake is killed, so that no orphan writes beside its successor."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def progress(iterable=None, **options):
    """Show a progress bar on a terminal, with rate and time left; show nothing elsewhere."""
    from tqdm import tqdm

    return tqdm(iterable, **{"disable": None, "dynamic_ncols": True} | options)
