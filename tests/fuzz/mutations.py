"""Mutations of a file's bytes: damage, other programs' habits, and malice."""

import random
import re

NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
ENDLESS = b"9" * 100_000  # digits: Python refuses to read so many
NUMBERS = (
    b"NaN", b"nan", b"Infinity", b"-Infinity", b"inf", b"-inf", b"1e999", b"-1e999", b"1e308", b"-1", b"-0.0", b"0", b"3.0", b"+1",
    b"1_000", b"0x10", b"1e-400", b"65536", b"4294967296", b"10000000000", b"1000000000", b"18446744073709551617", b"true", b"null",
    b'"x"', b"", b"[]", b"[1, 2]", b"{}", b"1.5", b"\xd9\xa1", b"\xc2\xb2", b"00012", b"1:30", ENDLESS, b"0." + ENDLESS,
)  # fmt: skip
INSERTS = (
    b"\0", b"\0\0\0\0", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe3\x80\x80", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\x1c", b"\x0b", b"\x0c", b"\x1b[31m", b"\x7f", b"\r", b"\n", b"\r\n", b"\n\n", b"\t", b" ", b"  ", b'"', b"'", b"\\",
    b"\\ud800", b"\\u0000", b"\\udc00\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"#", b"&a ", b"*a", b"!!python/name:os.system ", b"<<: ",
    b"[" * 100_000, b'{"a":' * 50_000, b"- " * 5_000, b"../", b"x" * 70_000,
)  # fmt: skip


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return the data after one to three mutations."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        data = draw.choice(MUTATIONS)(data, draw)
    return data


def _place(data: bytes, draw: random.Random) -> int:
    return draw.randrange(len(data) + 1)


def _piece(data: bytes, draw: random.Random) -> tuple[int, int]:
    start = _place(data, draw)
    return start, min(len(data), start + draw.choice((1, 1, 2, 4, 8, 64, len(data))))


def _flip(data: bytes, draw: random.Random) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 8))):
        changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: _place(data, draw)]


def _remove(data: bytes, draw: random.Random) -> bytes:
    start, end = _piece(data, draw)
    return data[:start] + data[end:]


def _double(data: bytes, draw: random.Random) -> bytes:
    start, end = _piece(data, draw)
    return data[:end] + data[start:end] + data[end:]


def _move(data: bytes, draw: random.Random) -> bytes:
    start, end = _piece(data, draw)
    rest, place = data[:start] + data[end:], _place(data[:start] + data[end:], draw)
    return rest[:place] + data[start:end] + rest[place:]


def _insert(data: bytes, draw: random.Random) -> bytes:
    place = _place(data, draw)
    return data[:place] + draw.choice(INSERTS) + data[place:]


def _number(data: bytes, draw: random.Random) -> bytes:
    found = list(NUMBER.finditer(data[:100_000]))
    if not found:
        return _insert(data, draw)
    chosen = draw.choice(found)
    return data[: chosen.start()] + draw.choice(NUMBERS) + data[chosen.end() :]


def _lines(data: bytes, draw: random.Random) -> bytes:
    """Remove, repeat or swap lines."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return _double(data, draw)
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    what = draw.randrange(3)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _word(data: bytes, draw: random.Random) -> bytes:
    """Put one word of the file in place of another."""
    words = list(re.finditer(rb"[^\s,:\"\[\]{}]+", data[:100_000]))
    if not words:
        return _insert(data, draw)
    one, other = draw.choice(words), draw.choice(words)
    return data[: one.start()] + other[0] + data[one.end() :]


def _other(data: bytes, draw: random.Random) -> bytes:
    """Another file altogether."""
    return draw.choice((b"", b"\n", b"\0" * len(data), draw.randbytes(64), b"null", b"[]", b"<html>404</html>\n", data + data))


MUTATIONS = (
    _flip,
    _flip,
    _cut,
    _remove,
    _double,
    _move,
    _insert,
    _insert,
    _number,
    _number,
    _number,
    _lines,
    _lines,
    _word,
    _other,
)
