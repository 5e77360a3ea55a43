"""An HTTP server on this machine that answers as it is told: well, half, with an error, with a page."""

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Loopback(ThreadingHTTPServer):
    """Each path has a list of answers; the last is given again and again."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answers, self.asked = {}, []

    def serve(self, path, *answers):
        """Answer requests for `path` in this order; returns its address."""
        self.answers[path] = list(answers)
        return self.url + path

    def ranges(self, path):
        """The Range headers with which a path was asked for, in order."""
        return [sent for asked, sent in self.asked if asked == path]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = urlsplit(self.path).path
        self.server.asked.append((path, self.headers.get("Range")))
        answers = self.server.answers.get(path) or [status(404)]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self)

    def log_message(self, *_):
        pass


@contextmanager
def loopback():
    """A server that runs while the block does."""
    server = Loopback()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def content(data: bytes, ranges: bool = True, until: int | None = None, kind: str = "application/octet-stream"):
    """Serve `data`, from where the client asks if `ranges`; the connection breaks at byte `until`."""

    def answer(handler):
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range") or "")
        if asked and ranges:
            start = int(asked[1])
            if start >= len(data):
                handler.send_error(416)
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            handler.send_response(200)
        if ranges:
            handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:until])

    return answer


def shifted(data: bytes, by: int):
    """A server that answers 206 with other bytes than it was asked for, and says so."""

    def answer(handler):
        if not handler.headers.get("Range"):
            return content(data)(handler)
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {by}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Length", str(len(data) - by))
        handler.end_headers()
        handler.wfile.write(data[by:])

    return answer


def status(code: int):
    """Answer with an error."""
    return lambda handler: handler.send_error(code)


def page(html: str):
    """Answer with a web page."""
    return content(html.encode(), ranges=False, kind="text/html; charset=utf-8")
