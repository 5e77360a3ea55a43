"""Published files: kept in a folder of downloads, checked by md5, resumed where a download broke off.

The folder is `downloads/` below the working directory, or $EPIC_DOWNLOADS. A file that a person has placed there is
checked and used like one that was downloaded; experiments share it, and running a rule again downloads nothing.
"""

import fcntl
import itertools
import logging
import os
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import requests

from epic.confirm import confirmation, title
from epic.files import InputError, digest_of, whole
from epic.log import progress

log = logging.getLogger(__name__)
PAUSES = (2.0, 10.0, 60.0)  # seconds before a server is asked again
BUSY = {429, 500, 502, 503, 504}
BLOCK = 1 << 13  # bytes; so much may be lost when a connection breaks


class _GoneError(Exception):
    """A mirror that will not deliver; asking again does not help."""


class _InterruptedError(Exception):
    """A mirror that may deliver when it is asked again."""


def kept_at(file) -> Path:
    """Where a published file is kept, and where a person may place it."""
    return Path(os.environ.get("EPIC_DOWNLOADS") or "downloads").absolute() / Path(file).name


def fetch(urls, md5: str, out, pauses=PAUSES, timeout: float = 30) -> None:
    """Make `out` the published file: the one that is kept, or from the first mirror that delivers it."""
    kept = kept_at(out)
    if not kept.exists():
        _download(urls, md5, kept, pauses, timeout)
    elif (found := digest_of(kept, "md5")) != md5:
        raise InputError(f"{kept} has md5 {found}, expected {md5}: another file, or a part of it; replace or delete it")
    log.info("%s: md5 %s as expected", kept, md5)
    with whole(out) as draft:
        try:
            os.link(kept.resolve(), draft)  # the file itself, where a person placed a link to it
        except OSError:  # another disk
            shutil.copyfile(kept, draft)


def _download(urls, md5: str, kept: Path, pauses, timeout: float) -> None:
    """Download from the first mirror that delivers, or say what each of them answered."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(f".{kept.name}.{md5}.part")  # outlives this process; the md5 says which file it is a part of
    answers = []
    with _locked(part) as stream:
        if kept.exists():  # another process had the lock, and was done
            return
        for url in urls:
            try:
                _from_mirror(url, md5, stream, pauses, timeout)
                os.replace(part, kept)
                return
            except _GoneError as error:
                log.warning("%s: %s", url, error)
                answers.append(f"  {url}: {error}")
        if not os.fstat(stream.fileno()).st_size:
            part.unlink()
    remedy = f"Fetch it elsewhere, place it at {kept} (md5 {md5}, which is checked), and repeat the command."
    raise InputError("\n".join([f"{kept.name}: no mirror delivered it. {remedy}", *answers]))


@contextmanager
def _locked(part: Path):
    """A part, opened for one process alone: two experiments may want one file."""
    while True:
        with open(part, "ab") as stream:
            with suppress(OSError):  # some disks of clusters know no locks
                fcntl.flock(stream, fcntl.LOCK_EX)
            if os.fstat(stream.fileno()).st_nlink:  # else the one who had the lock has removed it
                yield stream
                return


def _from_mirror(url: str, md5: str, stream, pauses, timeout: float) -> None:
    """Append to `stream` until the file is whole; ask again while that brings more, else after the pauses."""
    waits, furthest, restarted = list(pauses), _size(stream), False
    for asked in itertools.count(1):
        continued = _size(stream) > 0
        try:
            _receive(url, stream, timeout)
            if (found := _md5(stream)) == md5:
                return
            stream.truncate(0)
            if restarted or not continued:
                raise _GoneError(f"md5 {found}, expected {md5}")
            restarted = True
            log.warning("%s: what was resumed has md5 %s, expected %s; starting over", url, found, md5)
        except (_InterruptedError, requests.RequestException) as error:
            if _size(stream) > furthest:
                waits, furthest = list(pauses), _size(stream)
            if not waits:
                raise _GoneError(f"{error} (asked {asked} times)") from error
            log.warning("%s: %s; asking again in %g s", url, error, waits[0])
            time.sleep(waits.pop(0))


def _receive(url: str, stream, timeout: float) -> None:
    """Ask for what is missing, and append what comes."""
    with requests.Session() as session:
        response = _ask(session, url, _size(stream), timeout)
        if _is_page(response):
            page = response.text
            response.close()
            confirmed = confirmation(page, response.url)
            if confirmed is None:
                raise _GoneError(f"a web page instead of the file: {title(page) or 'without a title'}")
            response = _ask(session, confirmed, _size(stream), timeout)
            if _is_page(response):
                raise _GoneError(f"a web page again after the download was confirmed: {title(response.text)}")
        with response:
            _append(response, stream)


def _ask(session, url: str, start: int, timeout: float):
    """A response whose body is yet to come; refusals and errors of the server are raised."""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    response = session.get(url, headers=headers, stream=True, timeout=timeout)
    if response.status_code in BUSY:
        raise _InterruptedError(f"{response.status_code} {response.reason}")
    if response.status_code >= 400 and response.status_code != 416:
        raise _GoneError(f"{response.status_code} {response.reason}")
    return response


def _is_page(response) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/html") and response.status_code < 400


def _append(response, stream) -> None:
    """Write the body behind what is there, if the server begins where we asked it to, else from the start."""
    if response.status_code == 416:  # nothing is missing, or there is too much: the md5 tells
        return
    start = _size(stream)
    if response.status_code != 206 or not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        if response.status_code == 206:
            stream.truncate(0)
            raise _InterruptedError("the server continues at another place; starting over")
        start = 0
        stream.truncate(0)
    length = response.headers.get("Content-Length")
    total = start + int(length) if length else None
    name = Path(stream.name).name.strip(".").rsplit(".", 2)[0]
    with progress(None, total=total, initial=start, unit="B", unit_scale=True, desc=name) as bar:
        try:
            for block in response.iter_content(BLOCK):
                stream.write(block)
                bar.update(len(block))
        except requests.RequestException as error:
            stream.flush()
            raise _InterruptedError(f"the connection broke after {_size(stream)} of {total or '?'} bytes") from error
    stream.flush()


def _size(stream) -> int:
    return os.fstat(stream.fileno()).st_size


def _md5(stream) -> str:
    return digest_of(stream.name, "md5")
