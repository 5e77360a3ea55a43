"""Archives: read no further than a true one goes, and refused by name whatever is wrong with them."""

import gzip
import io
import tarfile
import warnings
import zipfile

import pytest

from epic.core import archives
from epic.core.archives import is_gzip, limit_of, opened_zip, reading, refuse_bomb, unpacked
from epic.core.files import InputError


@pytest.fixture
def small(monkeypatch):
    """Limits of bytes, not of megabytes."""
    monkeypatch.setattr(archives, "ALWAYS", 1000)


def test_an_archive_may_hold_a_hundred_times_its_size_and_any_archive_some_megabytes(tmp_path, small):
    (tmp_path / "a").write_bytes(bytes(50))
    assert limit_of(tmp_path / "a") == 5000
    (tmp_path / "a").write_bytes(bytes(5))
    assert limit_of(tmp_path / "a") == 1000
    refuse_bomb(tmp_path / "a", 1000)
    with pytest.raises(InputError, match=r"a: unpacks to 1001 bytes or more, from 5; no true archive does"):
        refuse_bomb(tmp_path / "a", 1001)


def test_a_zip_that_claims_to_hold_too_much_is_refused_before_it_is_read(tmp_path, small):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(300_000))
    with pytest.raises(InputError, match=r"a\.zip: unpacks to 300000 bytes"), opened_zip(tmp_path / "a.zip"):
        pass


def test_a_member_that_is_there_twice_or_encrypted_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("one", "a")
        archive.writestr("one", "b")
    with pytest.raises(InputError, match=r"a\.zip: 'one' is there twice"), opened_zip(tmp_path / "a.zip"):
        pass
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("two", "a")
    data = bytearray((tmp_path / "b.zip").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(InputError, match=r"b\.zip: 'two' is encrypted"), opened_zip(tmp_path / "b.zip"):
        pass
    (tmp_path / "c.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"c\.zip: cannot be read \(BadZipFile"), opened_zip(tmp_path / "c.zip"):
        pass


@pytest.mark.parametrize(
    "error", [RuntimeError("x\ny"), NotImplementedError(), OSError(22, "Invalid"), KeyError("a"), RecursionError()]
)
def test_whatever_a_library_says_becomes_one_line_with_the_file(error):
    with (
        pytest.raises(InputError, match=rf"f\.zip: member cannot be read \({type(error).__name__}") as found,
        reading("f.zip", "member "),
    ):
        raise error
    assert "\n" not in str(found.value)


def test_our_own_words_stay_as_they_are():
    with pytest.raises(InputError, match="^mine$"), reading("f.zip"):
        raise InputError("mine")


def test_a_stream_ends_where_no_true_archive_goes_on(tmp_path, small):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(100_000)))
    assert is_gzip(tmp_path / "a.gz")
    with unpacked(tmp_path / "a.gz") as stream, pytest.raises(InputError, match="unpacks to"):
        stream.read()
    with unpacked(tmp_path / "a.gz") as stream, pytest.raises(InputError, match="unpacks to 50000 bytes"):
        stream.seek(50_000)
    (tmp_path / "b").write_bytes(b"plain")
    with unpacked(tmp_path / "b") as stream:
        assert not is_gzip(tmp_path / "b") and stream.read(2) == b"pl" and stream.tell() == 2 and stream.read() == b"ain"


def test_a_header_of_a_tar_that_has_no_end_does_not_fill_the_memory(tmp_path, small):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 10_000_000
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000_000)))
    with pytest.raises(InputError, match="unpacks to"), unpacked(tmp_path / "a.tar.gz") as stream, tarfile.open(fileobj=stream):
        pass


def test_a_tar_within_its_limits_is_read(tmp_path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("x")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    with unpacked(tmp_path / "a.tar.gz") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
        assert archive.extractfile("x").read() == b"abc"
