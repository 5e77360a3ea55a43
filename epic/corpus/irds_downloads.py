"""Downloads of ir_datasets: terms are shown before the first, failures are retried if that may help, else explained.

The addresses, md5 and path of a download are read from the objects of ir_datasets, some of whose attributes are
private; its version is pinned, and the tests hold us to it.
"""

import errno
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import requests

from epic.core.files import InputError, digest_of
from epic.corpus.datasets import alone, home

log = logging.getLogger(__name__)
T = TypeVar("T")
PAUSES = (5.0, 30.0)  # seconds before a download is tried again, after ir_datasets' own attempts ($IR_DATASETS_DL_TRIES)
TERMS = {
    "msmarco-passage": (
        "MS MARCO is about to be downloaded. Microsoft gives these data for non-commercial research only, as they are and "
        "without warranty; the terms are at https://msmarco.org, and downloading the data means to accept them."
    )
}
COLLECTION = ("collection.tsv", "collectionandqueries.tar.gz")  # if either is there, the terms have been shown
CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES}


def fetched(dataset: str, read: Callable[[], T]) -> T:
    """Return the result of `read`, which may download: run it alone, retry it, and raise errors that the user can mend."""
    with alone():
        _show_terms(dataset)
        if not sys.stderr.isatty():
            os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")
        for pause in (*PAUSES, None):
            try:
                return read()
            except InputError:
                raise
            except Exception as error:
                failure = _failure(dataset, error)
                if failure is None:
                    raise
                if pause is None or not failure.may_pass:
                    raise InputError(failure.said) from error
                log.warning("%s: %s; trying again in %g s", dataset, error, pause)
                time.sleep(pause)


def _show_terms(dataset: str) -> None:
    """Warn of the terms, so that they are seen in the log, on the terminal, and where no log was set up."""
    name = dataset.split("/")[0]
    if name in TERMS and not any((home() / name / file).exists() for file in COLLECTION):
        log.warning(TERMS[name])


class _Failure(NamedTuple):
    """A message for the user, and whether trying again may help."""

    said: str
    may_pass: bool


def _failure(dataset: str, error: Exception) -> _Failure | None:
    """Explain an error that arose below ir_datasets; None if it has nothing to do with files or the network."""
    if getattr(error, "errno", None) in CANNOT_WRITE or str(error).startswith("Insufficient disk space"):
        return _Failure(f"{dataset}: {error}; make room there, or set IR_DATASETS_HOME to a folder on a larger disk", False)
    download, derived, packed = _origin(error)
    if download is None:
        return None
    place = download._cache_path
    if packed:
        said = f"{packed} cannot be read ({error}); ir_datasets made it of {Path(place).name}; move it away, and it is made again"
        return _Failure(f"{dataset}: {said}", False)
    if place and Path(place).exists():
        found, published = digest_of(place, "md5"), download.expected_md5
        said = f"{place} cannot be read ({error}): its md5 is {found}, the published file's is {published}"
        return _Failure(f"{dataset}: {said}; put the published file there, or move this one away to download it anew", False)
    where = f"place it at {place}" if place else f"unpack it as {derived}"
    size = f"{download._size_hint:,} bytes, " if download._size_hint else ""
    copy = getattr(download.mirrors[0], "_path", None)  # a file that users may place by its md5, which ir_datasets checks
    refused = f" (The copy at {copy} has another md5.)" if copy and copy.exists() else ""
    said = f"{_urls(download)[0]} was not delivered: {_reason(error, download)}.{refused}"
    remedy = f"Try again later, or fetch it elsewhere ({size}md5 {download.expected_md5}), {where}, and repeat the command."
    return _Failure(f"{dataset}: {said} {remedy}", True)


def _origin(error: Exception) -> tuple[Any, Path | None, Path | None]:
    """Return the download in or behind whose code an error arose, and two files that ir_datasets makes of one.

    The first is what it would have made of it, the second an archive that it has packed again, and then reads instead.
    """
    from ir_datasets.util import Cache, Download, ReTar

    owners = [frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]
    download = next((found for owner in owners for found in _behind(owner, Download)), None)
    packed = [found._output_file for owner in owners for found in _behind(owner, ReTar) if found._output_file.exists()]
    derived = next((owner._path for owner in owners if isinstance(owner, Cache)), None)
    return download, derived, next(iter(packed), None)


def _behind(thing, kind: type) -> Iterator[Any]:
    """Yield the objects of a kind that an object of ir_datasets reads from."""
    if isinstance(thing, kind):
        yield thing
    elif isinstance(thing, list | tuple):
        for inner in thing:
            yield from _behind(inner, kind)
    elif type(thing).__module__.startswith("ir_datasets"):
        for inner in getattr(thing, "__dict__", {}).values():
            yield from _behind(inner, kind)


def _urls(download) -> list[str]:
    return [mirror.url for mirror in download.mirrors if hasattr(mirror, "url")]


def _reason(error: Exception, download) -> str:
    """Say what went wrong; ir_datasets takes a server's error page for the file, and then finds that its md5 is wrong."""
    from ir_datasets.util import HashVerificationError

    if isinstance(error, RuntimeError) and len(error.args) == 2:  # all mirrors failed: [(mirror, error), ...]
        return "; ".join(f"{getattr(mirror, 'url', mirror)}: {reason}" for mirror, reason in error.args[1])
    if not isinstance(error, HashVerificationError):
        return str(error)
    try:
        with requests.get(_urls(download)[0], stream=True, timeout=15) as answer:
            if answer.status_code >= 400:
                return f"the server answers {answer.status_code} {answer.reason}"
    except requests.RequestException:
        pass
    return str(error)
