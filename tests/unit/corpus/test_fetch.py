"""Downloads from a server on this machine: whole, resumed, broken, refused, confirmed, and placed by hand."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from epic.core.files import InputError
from epic.corpus.fetch import BLOCK, _locked, fetch, kept_at
from tests.conftest import ROOT
from tests.loopback import content, loopback, page, shifted, status

CONTENT = b"".join(b"predicted query %d\n" % i for i in range(3000))
MD5 = hashlib.md5(CONTENT).hexdigest()
HALF = 2 * BLOCK
NOW = (0.0, 0.0)


@pytest.fixture
def server():
    with loopback() as found:
        yield found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with its downloads/."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EPIC_DOWNLOADS", raising=False)
    return tmp_path


def part(folder):
    return folder / "downloads" / f".file.zip.{MD5}.part"


def got(folder, *urls, pauses=NOW):
    fetch(list(urls), MD5, folder / "out" / "file.zip", pauses)
    return (folder / "out" / "file.zip").read_bytes()


def test_a_file_is_kept_and_linked_and_never_downloaded_again(server, folder):
    url = server.serve("/file", content(CONTENT))
    assert got(folder, url) == CONTENT and len(server.asked) == 1
    assert [path.name for path in (folder / "downloads").iterdir()] == ["file.zip"]
    assert (folder / "out" / "file.zip").samefile(folder / "downloads" / "file.zip")
    (folder / "out" / "file.zip").unlink()
    assert got(folder, url) == CONTENT and len(server.asked) == 1


def test_a_file_can_be_checked_by_its_sha256(server, folder):
    url, sha256 = server.serve("/file", content(CONTENT)), hashlib.sha256(CONTENT).hexdigest()
    fetch([url], sha256, folder / "out" / "file.zip", NOW)
    assert (folder / "out" / "file.zip").read_bytes() == CONTENT
    (folder / "downloads" / "file.zip").write_bytes(b"another")
    with pytest.raises(InputError, match=f"has sha256 {hashlib.sha256(b'another').hexdigest()}, expected {sha256}: another file"):
        fetch([url], sha256, folder / "out" / "file.zip", NOW)
    (folder / "downloads" / "file.zip").unlink()
    other = server.serve("/other", content(b"x" * len(CONTENT)))
    with pytest.raises(
        InputError, match=rf"\(sha256 {sha256}, which is checked\)(.|\n)*sha256 [0-9a-f]{{64}}, expected {sha256}"
    ):
        fetch([other], sha256, folder / "out" / "file.zip", NOW)


def test_the_first_mirror_with_the_right_bytes_is_taken(server, folder):
    urls = [
        server.serve("/missing", status(404)),
        server.serve("/other", content(b"x" * len(CONTENT))),
        server.serve("/right", content(CONTENT)),
    ]
    assert got(folder, *urls) == CONTENT


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_broke_is_resumed_where_the_server_can_and_else_begun_anew(server, folder, ranges):
    url = server.serve("/file", content(CONTENT, ranges, until=HALF), content(CONTENT, ranges))
    assert got(folder, url) == CONTENT
    assert server.ranges("/file") == [None, f"bytes={HALF}-"]


def test_a_server_that_sends_a_little_each_time_is_asked_as_long_as_it_does(server, folder):
    steps = [content(CONTENT, until=until) for until in range(BLOCK, len(CONTENT), BLOCK)]
    url = server.serve("/file", *steps, content(CONTENT))
    assert len(steps) > len(NOW) + 1
    assert got(folder, url) == CONTENT


def test_a_server_that_always_breaks_at_the_same_place_is_given_up_and_the_part_is_kept(server, folder):
    url = server.serve("/file", content(CONTENT, ranges=False, until=HALF))
    with pytest.raises(
        InputError, match=rf"(?s)no mirror delivered it.*the connection broke after {HALF} of {len(CONTENT)} bytes.*asked 3 times"
    ):
        got(folder, url)
    assert part(folder).read_bytes() == CONTENT[:HALF]
    server.serve("/file", content(CONTENT))
    assert got(folder, url) == CONTENT and server.ranges("/file")[-1] == f"bytes={HALF}-"
    assert not part(folder).exists()


def test_another_mirror_goes_on_where_the_first_stopped(server, folder):
    first, second = server.serve("/a", content(CONTENT, until=HALF), status(404)), server.serve("/b", content(CONTENT))
    assert got(folder, first, second) == CONTENT
    assert server.ranges("/b") == [f"bytes={HALF}-"]


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_server_is_asked_again(server, folder, code):
    url = server.serve("/file", status(code), status(code), content(CONTENT))
    assert got(folder, url) == CONTENT and len(server.asked) == 3


def test_pauses_grow_and_are_kept(server, folder):
    url = server.serve("/file", status(503), status(503), content(CONTENT))
    start = time.monotonic()
    assert got(folder, url, pauses=(0.1, 0.3)) == CONTENT
    assert time.monotonic() - start >= 0.4


@pytest.mark.parametrize(
    ("answer", "asked", "said"),
    [
        (status(404), 1, "404 Not Found"),
        (status(403), 1, "403 Forbidden"),
        (status(500), 3, r"500 Internal Server Error \(asked 3 times\)"),
        (content(b"x" * 99), 1, f"md5 {hashlib.md5(b'x' * 99).hexdigest()}, expected {MD5}"),
        (content(b""), 1, "md5 d41d8cd98f00b204e9800998ecf8427e, expected"),
        (page("<title>Quota\n exceeded</title>"), 1, "a web page instead of the file: Quota exceeded"),
    ],
)
def test_what_a_mirror_answered_is_said_with_the_place_for_the_file_and_nothing_is_left(server, folder, answer, asked, said):
    url = server.serve("/file", answer)
    place = folder / "downloads" / "file.zip"
    with pytest.raises(InputError, match=rf"(?s)file\.zip: no mirror .*place it at {place} \(md5 {MD5}.*{url}: {said}"):
        got(folder, url)
    assert len(server.asked) == asked and [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_server_that_is_not_there_is_named(folder):
    with pytest.raises(InputError, match="127.0.0.1:9/"):
        got(folder, "http://127.0.0.1:9/x")


def test_a_part_of_something_else_is_thrown_away_once(server, folder):
    part(folder).parent.mkdir()
    part(folder).write_bytes(b"y" * HALF)
    url = server.serve("/file", content(CONTENT))
    assert got(folder, url) == CONTENT and server.ranges("/file") == [f"bytes={HALF}-", None]


def test_a_download_is_begun_anew_once_and_no_more(server, folder):
    part(folder).parent.mkdir()
    part(folder).write_bytes(b"y" * HALF)
    other = b"x" * len(CONTENT)
    url = server.serve("/file", content(other), content(other, until=HALF), content(other))
    with pytest.raises(InputError, match=f"md5 {hashlib.md5(other).hexdigest()}, expected"):
        got(folder, url)
    assert server.ranges("/file") == [f"bytes={HALF}-", None, f"bytes={HALF}-"]


@pytest.mark.parametrize("size", [len(CONTENT), len(CONTENT) + 5])
def test_a_part_that_is_whole_or_too_long_is_no_trap(server, folder, size):
    part(folder).parent.mkdir()
    part(folder).write_bytes((CONTENT + b"z" * 5)[:size])
    url = server.serve("/file", content(CONTENT))
    assert got(folder, url) == CONTENT


def test_a_server_that_continues_elsewhere_is_not_believed(server, folder):
    url = server.serve("/file", content(CONTENT, until=HALF), shifted(CONTENT, HALF - 7), content(CONTENT))
    assert got(folder, url) == CONTENT


def test_the_part_of_a_killed_process_is_continued(server, folder):
    slow = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from epic.corpus import fetch; fetch.time.sleep = lambda _: __import__('os').kill(__import__('os').getpid(), 9); "
    url = server.serve("/file", content(CONTENT, until=HALF), content(CONTENT))
    code = slow + f"fetch.fetch([{url!r}], {MD5!r}, 'out/file.zip')"
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, check=False, capture_output=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert part(folder).stat().st_size == HALF
    assert got(folder, url) == CONTENT and server.ranges("/file")[-1] == f"bytes={HALF}-"


def test_a_file_placed_by_hand_is_checked_and_used_without_network(folder, monkeypatch):
    monkeypatch.setenv("EPIC_DOWNLOADS", str(folder / "shared"))
    assert kept_at("results/x/fetch/file.zip") == folder / "shared" / "file.zip"
    (folder / "shared").mkdir()
    (folder / "shared" / "file.zip").write_bytes(CONTENT[:-1])
    with pytest.raises(
        InputError, match=rf"shared/file\.zip has md5 .*, expected {MD5}: .*put the right one there, or move it away"
    ):
        got(folder, "http://127.0.0.1:9/x")
    assert (folder / "shared" / "file.zip").exists()
    (folder / "shared" / "file.zip").write_bytes(CONTENT)
    assert got(folder, "http://127.0.0.1:9/x") == CONTENT


def test_a_link_placed_by_hand_leads_to_the_file_itself(folder):
    (folder / "elsewhere.zip").write_bytes(CONTENT)
    (folder / "downloads").mkdir()
    (folder / "downloads" / "file.zip").symlink_to("../elsewhere.zip")
    assert got(folder, "http://127.0.0.1:9/absent") == CONTENT
    assert not (folder / "out" / "file.zip").is_symlink() and (folder / "out" / "file.zip").samefile(folder / "elsewhere.zip")


def test_a_file_on_another_disk_is_copied(server, folder, monkeypatch):
    def refuse(*_):
        raise OSError("cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    assert got(folder, server.serve("/file", content(CONTENT))) == CONTENT


def test_two_processes_share_one_download(server, folder):
    url = server.serve("/file", content(CONTENT))
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from epic.corpus.fetch import fetch; fetch([{url!r}], {MD5!r}, sys.argv[1] + '/file.zip')"
    runs = [subprocess.Popen([sys.executable, "-c", code, name], cwd=folder) for name in ("one", "two")]
    assert [run.wait(60) for run in runs] == [0, 0] and len(server.asked) == 1
    assert (folder / "one" / "file.zip").read_bytes() == (folder / "two" / "file.zip").read_bytes() == CONTENT


def test_who_waits_for_a_part_that_is_removed_gets_a_new_one(folder):
    path, opened, waited = folder / "part", threading.Event(), []

    def second():
        opened.wait(10)
        with _locked(path) as stream:
            stream.write(b"mine")
        waited.append(path.read_bytes())

    thread = threading.Thread(target=second)
    thread.start()
    with _locked(path):
        opened.set()
        time.sleep(0.2)
        path.unlink()
    thread.join(10)
    assert waited == [b"mine"]


FORM = """<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<form id="other" action="/elsewhere"><input type="hidden" name="id" value="no"></form>
<form id="download-form" action="{action}" method="get"><input type="submit" value="Download anyway"/>
<input type="hidden" name="id" value="1d2OO"><input type="hidden" name="export" value="download">
<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="a&amp;b"></form></body></html>"""


def test_the_form_of_google_drive_is_confirmed_and_a_broken_download_resumed(server, folder):
    asked = []

    def confirmed(handler):
        asked.append(handler.path)
        content(CONTENT, until=HALF if len(asked) == 1 else None)(handler)

    url = server.serve("/uc", page(FORM.format(action=server.url + "/download")))
    server.serve("/download", confirmed)
    assert got(folder, f"{url}?id=1d2OO") == CONTENT
    assert asked == ["/download?id=1d2OO&export=download&confirm=t&uuid=a%26b"] * 2
    assert server.ranges("/download") == [None, f"bytes={HALF}-"]


def test_a_page_after_the_confirmation_is_never_saved(server, folder):
    url = server.serve("/uc", page(FORM.format(action="/download")))
    server.serve("/download", page("<title>Sign in</title>"))
    with pytest.raises(InputError, match="a web page again after the download was confirmed: Sign in"):
        got(folder, url)
    assert [path for path in folder.rglob("*") if path.is_file()] == []
