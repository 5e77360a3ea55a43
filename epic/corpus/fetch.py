"""Published files: kept in a folder of downloads, checked by md5 or sha256, resumed where a download broke off.

The folder is `downloads/` below the working directory, or $EPIC_DOWNLOADS. A file that the user has placed there is
checked and used like a downloaded one; experiments share it, and running a rule again downloads nothing.
"""

import fcntl
import itertools
import logging
import os
import shutil
import time
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urljoin

import requests

from epic.core.files import InputError, digest_of, replacing
from epic.core.log import progress

log = logging.getLogger(__name__)
PAUSES = (2.0, 10.0, 60.0)  # seconds before a server is asked again
BUSY = {429, 500, 502, 503, 504}
FORM = "download-form"  # of the page with which Google Drive answers requests for large files
BLOCK = 1 << 13  # bytes; a broken connection may lose so many


class _GoneError(Exception):
    """A mirror that will not deliver; asking again does not help."""


class _InterruptedError(Exception):
    """A mirror that may deliver when it is asked again."""


def kept_at(file) -> Path:
    """Return the path at which a published file is kept, and at which the user may place it."""
    return Path(os.environ.get("EPIC_DOWNLOADS") or "downloads").absolute() / Path(file).name


def fetch(urls, digest: str, out, pauses=PAUSES, timeout: float = 30) -> None:
    """Make `out` the published file: the kept one, or a download from the first mirror that delivers it.

    digest: its md5, or its sha256 where that is what was published; they differ in length.
    """
    kept = kept_at(out)
    if not kept.exists():
        _download(urls, digest, kept, pauses, timeout)
    elif (found := digest_of(kept, kind_of(digest))) != digest:
        raise InputError(
            f"{kept} has {kind_of(digest)} {found}, expected {digest}: another file, or a part of it; put the right one there, "
            "or move it away"
        )
    log.info("%s: %s %s as expected", kept, kind_of(digest), digest)
    with replacing(out) as draft:
        try:
            os.link(kept.resolve(), draft)  # the file itself, if the user placed a link to it
        except OSError:  # another disk
            shutil.copyfile(kept, draft)


def kind_of(digest: str) -> str:
    """Tell an md5 from a sha256."""
    return {32: "md5", 64: "sha256"}[len(digest)]


def _download(urls, digest: str, kept: Path, pauses, timeout: float) -> None:
    """Download from the first mirror that delivers, or report each mirror's answer."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(f".{kept.name}.{digest}.part")  # outlives this process; the digest names the file it is a part of
    answers = []
    with _locked(part) as stream:
        if kept.exists():  # another process had the lock, and has finished
            return
        for url in urls:
            try:
                _from_mirror(url, digest, stream, pauses, timeout)
                os.replace(part, kept)
                return
            except _GoneError as error:
                log.warning("%s: %s", url, error)
                answers.append(f"  {url}: {error}")
        if not os.fstat(stream.fileno()).st_size:
            part.unlink()
    remedy = f"Fetch it elsewhere, place it at {kept} ({kind_of(digest)} {digest}, which is checked), and repeat the command."
    raise InputError("\n".join([f"{kept.name}: no mirror delivered it. {remedy}", *answers]))


@contextmanager
def _locked(part: Path):
    """Open a part for one process alone: two experiments may want one file."""
    while True:
        with open(part, "ab") as stream:
            with suppress(OSError):  # some disks of clusters know no locks
                fcntl.flock(stream, fcntl.LOCK_EX)
            if os.fstat(stream.fileno()).st_nlink:  # else the process that had the lock has removed it
                yield stream
                return


def _from_mirror(url: str, digest: str, stream, pauses, timeout: float) -> None:
    """Append to `stream` until the file is whole; pause and ask again, up to the last pause without progress."""
    waits, furthest, restarted, kind = list(pauses), _size(stream), False, kind_of(digest)
    for asked in itertools.count(1):
        continued = _size(stream) > 0
        try:
            _receive(url, stream, timeout)
            if (found := digest_of(stream.name, kind)) == digest:
                return
            stream.truncate(0)
            if restarted or not continued:
                raise _GoneError(f"{kind} {found}, expected {digest}")
            restarted = True
            log.warning("%s: what was resumed has %s %s, expected %s; starting over", url, kind, found, digest)
        except (_InterruptedError, requests.RequestException) as error:
            if _size(stream) > furthest:
                waits, furthest = list(pauses), _size(stream)
            if not waits:
                raise _GoneError(f"{error} (asked {asked} times)") from error
            log.warning("%s: %s; asking again in %g s", url, error, waits[0])
            time.sleep(waits.pop(0))


def _receive(url: str, stream, timeout: float) -> None:
    """Ask for the missing bytes, and append those that come."""
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
    """Return a response whose body is yet to come; raise the server's refusals and errors."""
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
    """Write the body after the bytes that are there if the server begins where we asked, else from the start."""
    if response.status_code == 416:  # no byte is missing, or there are too many: the digest tells
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


class _Page(HTMLParser):
    """The title of a page, and the hidden fields of its download form."""

    def __init__(self):
        super().__init__()
        self.title, self.action, self.fields = "", None, {}
        self._in_title = self._in_form = False

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "title":
            self._in_title = True
        elif tag == "form" and found.get("id") == FORM:
            self._in_form, self.action = True, found.get("action")
        elif tag == "input" and self._in_form and found.get("name"):
            self.fields[found["name"]] = found.get("value") or ""

    def handle_endtag(self, tag):
        if tag == "title":
            self._in_title = False
        elif tag == "form":
            self._in_form = False

    def handle_data(self, data):
        if self._in_title:
            self.title += data


def confirmation(html: str, url: str) -> str | None:
    """Return the address that the download form of a page leads to; None if there is no form."""
    found = _parsed(html)
    return urljoin(url, f"{found.action}?{urlencode(found.fields)}") if found.action else None


def title(html: str) -> str:
    """Return the title of a page, on one line."""
    return " ".join(_parsed(html).title.split())


def _parsed(html: str) -> _Page:
    found = _Page()
    found.feed(html)
    return found
