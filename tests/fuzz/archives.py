"""Archives as nobody should publish them: encrypted, of exotic kinds, with members twice, links, devices, and bombs."""

import gzip
import io
import random
import struct
import tarfile
import zipfile
from functools import cache

from tests.fuzz.mutations import mutated

BOMB = 600_000_000  # bytes that a bomb unpacks to, all zeros, in a single line
STRANGE = ("../{}", "/{}", "a/../../{}", "C:\\{}", "x" * 300 + "/{}", "\u202e{}", "{}\n", "{}/")


def zipped(files: dict[str, bytes], draw: random.Random) -> bytes:
    """Return a zip of the files: whole, with a mutated member, mutated itself, or hostile."""
    what = draw.random()
    if what < 0.45:
        return pack(_one_mutated(files, draw))
    if what < 0.75:
        return mutated(pack(files), draw)
    return draw.choice(HOSTILE_ZIPS)(files, draw)


def tarred(files: dict[str, bytes], draw: random.Random) -> bytes:
    """Return the same as a tar.gz."""
    what = draw.random()
    if what < 0.35:
        return gzip.compress(pack_tar(_one_mutated(files, draw)), 1, mtime=0)
    if what < 0.55:
        return gzip.compress(mutated(pack_tar(files), draw), 1, mtime=0)
    if what < 0.75:
        return mutated(gzip.compress(pack_tar(files), 1, mtime=0), draw)
    return draw.choice(HOSTILE_TARS)(files, draw)


def gzipped(data: bytes, draw: random.Random) -> bytes:
    """Return mutated data, compressed, or compressed data, mutated."""
    if draw.random() < 0.5:
        return gzip.compress(mutated(data, draw), 1, mtime=0)
    return mutated(gzip.compress(data, 1, mtime=0), draw)


def _one_mutated(files: dict[str, bytes], draw: random.Random) -> dict[str, bytes]:
    chosen = draw.choice(sorted(files))
    return files | {chosen: mutated(files[chosen], draw)}


def pack(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of the files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return stream.getvalue()


def pack_tar(files: dict[str, bytes], **more: tarfile.TarInfo) -> bytes:
    """Return a tar of the files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more.values():
            archive.addfile(info)
    return stream.getvalue()


def _patched(data: bytes, offset_local: int, offset_central: int, value: int) -> bytes:
    """Put a 16-bit value into each local and each central header of a zip."""
    changed = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", offset_local), (b"PK\x01\x02", offset_central)):
        place = data.find(mark)
        while place >= 0:
            struct.pack_into("<H", changed, place + offset, value)
            place = data.find(mark, place + 4)
    return bytes(changed)


def _encrypted(files, draw):
    return _patched(pack(files), 6, 8, 1)


def _exotic(files, draw):
    return _patched(pack(files), 8, 10, draw.choice((1, 6, 9, 12, 14, 93, 95, 97, 98, 99)))


def _other_method(files, draw):
    return pack(files, draw.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED)))


def _twice(files, draw):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
        name = draw.choice(sorted(files))
        archive.writestr(zipfile.ZipInfo(draw.choice(("", "other/")) + name), b"another\n")  # zipfile only warns
    return stream.getvalue()


def _strange_names(files, draw):
    form = draw.choice(STRANGE)
    return pack({form.format(name): data for name, data in files.items()})


def _of_a_lie(files, draw):
    """Sizes in the headers that are not those of the members."""
    data, place = bytearray(pack(files)), 0
    while (place := data.find(b"PK\x01\x02", place)) >= 0:
        struct.pack_into("<I", data, place + draw.choice((20, 24)), draw.choice((0, 1, 1 << 31, (1 << 32) - 2)))
        place += 4
    return bytes(data)


@cache
def _bomb() -> bytes:
    """A deflated stream of zeros, made once."""
    import zlib

    packer, zeros = zlib.compressobj(6), bytes(10_000_000)
    return b"".join([packer.compress(zeros) for _ in range(BOMB // len(zeros))] + [packer.flush()])[2:-4]


@cache
def _bomb_checksum() -> int:
    import zlib

    found, zeros = 0, bytes(10_000_000)
    for _ in range(BOMB // len(zeros)):
        found = zlib.crc32(zeros, found)
    return found


def zip_bomb(files, draw):
    """A zip whose first member, a true one by its name, unpacks to a single line of zeros."""
    name, packed = sorted(files)[0], _bomb()
    crc, sizes = _bomb_checksum(), (len(packed), BOMB)
    encoded = name.encode()
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 33, crc, *sizes, len(encoded), 0) + encoded + packed
    central = (
        struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, crc, *sizes, len(encoded), 0, 0, 0, 0, 0, 0) + encoded
    )
    return local + central + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central), len(local), 0)


def tar_bomb(files, draw):
    """A tar.gz whose member, a true one by its name, is zeros without end."""
    info = tarfile.TarInfo(sorted(files)[-1])
    info.size = BOMB
    head = gzip.compress(info.tobuf(), 1, mtime=0)
    return head + b"\x1f\x8b\x08\0\0\0\0\0\0\3" + _bomb() + struct.pack("<II", _bomb_checksum(), BOMB)


def _seldom(bomb, instead):
    """A bomb takes seconds where nothing stops it: only some hostile archives are one."""
    return lambda files, draw: bomb(files, draw) if draw.random() < 0.05 else instead(files, draw)


def _with_other_kinds(files, draw):
    """A tar in which a true name is a link, a device, a folder or a sparse file."""
    info = tarfile.TarInfo(sorted(files)[-1])
    info.type = draw.choice(
        (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, b"S")
    )
    info.linkname = draw.choice(("/etc/passwd", "../../x", info.name, "nowhere"))
    rest = {name: data for name, data in files.items() if name != info.name}
    return gzip.compress(pack_tar(rest, other=info), 1, mtime=0)


def _strange_tar(files, draw):
    form = draw.choice(STRANGE)
    return gzip.compress(pack_tar({form.format(name): data for name, data in files.items()}), 1, mtime=0)


def _lying_tar(files, draw):
    """A size in a header that is not the member's."""
    info = tarfile.TarInfo(sorted(files)[-1])
    info.size = draw.choice((1, 10**6, 8 * 10**9, 1 << 62))
    return gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + files[sorted(files)[-1]], 1, mtime=0)


def _not_gzip(files, draw):
    import bz2
    import lzma

    return draw.choice((lambda data: data, bz2.compress, lzma.compress))(pack_tar(files))


HOSTILE_ZIPS = (_encrypted, _exotic, _other_method, _twice, _strange_names, _of_a_lie, _seldom(zip_bomb, _encrypted))
HOSTILE_TARS = (_with_other_kinds, _strange_tar, _lying_tar, _not_gzip, _seldom(tar_bomb, _with_other_kinds))
