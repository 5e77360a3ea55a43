"""Downloads from a server on this machine: the right bytes, the wrong ones, broken and refused connections."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from epic.fetch import fetch
from epic.files import InputError

CONTENT = b"predicted queries" * 1000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write({"/half": CONTENT[:100], "/other": b"x" * len(CONTENT)}.get(self.path, CONTENT))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


def test_the_first_mirror_with_the_right_bytes_is_taken(server, tmp_path):
    fetch([f"{server}/missing", f"{server}/half", f"{server}/other", f"{server}/right"], MD5, tmp_path / "file.zip")
    assert (tmp_path / "file.zip").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "said"), [("missing", "404"), ("half", "100 bytes|broke|IncompleteRead"), ("other", "md5 .*, expected")]
)
def test_what_went_wrong_is_said_for_each_mirror_and_nothing_is_left(server, tmp_path, path, said):
    with pytest.raises(InputError, match=rf"(?s)no mirror delivered it; place the file at .*{path}: .*({said})"):
        fetch([f"{server}/{path}"], MD5, tmp_path / "file.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="127.0.0.1:9/"):
        fetch(["http://127.0.0.1:9/x"], MD5, tmp_path / "file.zip")
