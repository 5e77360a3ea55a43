"""Downloads of published files, checked by md5 and moved into place only when whole."""

import hashlib
import logging

import requests

from epic.files import InputError, whole
from epic.log import progress

log = logging.getLogger(__name__)


def fetch(urls, md5: str, out, timeout: float = 30) -> None:
    """Download from the first mirror that serves a file with this md5, or say what each of them answered."""
    answers = []
    for url in urls:
        try:
            with whole(out) as draft:
                found = _download(url, draft, timeout)
                if found != md5:
                    raise InputError(f"md5 {found}, expected {md5}")
            log.info("%s: md5 %s as expected", url, md5)
            return
        except (requests.RequestException, InputError) as error:
            log.warning("%s: %s", url, error)
            answers.append(f"  {url}: {error}")
    remedy = f"place the file at {out} yourself (md5 {md5}) and `touch` it"
    raise InputError("\n".join([f"{out}: no mirror delivered it; {remedy}", *answers]))


def _download(url: str, draft, timeout: float) -> str:
    """Stream `url` to `draft` and return the md5 of what came."""
    digest = hashlib.md5()
    with requests.get(url, stream=True, timeout=timeout) as response, open(draft, "wb") as stream:
        response.raise_for_status()
        size = int(response.headers.get("Content-Length", 0)) or None
        with progress(None, total=size, unit="B", unit_scale=True, desc=str(draft.parent.name)) as bar:
            for block in response.iter_content(1 << 20):
                stream.write(block)
                digest.update(block)
                bar.update(len(block))
        if size is not None and stream.tell() < size and "Content-Encoding" not in response.headers:
            raise InputError(f"the connection broke after {stream.tell()} of {size} bytes")
    return digest.hexdigest()
