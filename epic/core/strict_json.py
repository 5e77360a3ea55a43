"""JSON read strictly.

Python's own reader takes NaN and Infinity for numbers, makes infinity of 1e999, keeps the last of two equal keys, and makes
texts that no file can hold: with half of a character, or with a zero byte.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator

SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")  # an escape of half a character, or of a zero byte


def parse_json(text: str, zeros: bool = False):
    """Return the value of a JSON text, or raise a ValueError that says what is wrong; zeros: texts may hold zero bytes."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("values are nested too deeply") from None
    if SUSPECT.search(text):
        for found in _texts(value):
            found.encode("utf-8")  # a UnicodeEncodeError is a ValueError
            if "\0" in found and not zeros:
                raise ValueError("a text holds a zero byte")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _no_constant(name: str):
    raise ValueError(f"{name} is no number of JSON")


def _each_key_once(pairs: list[tuple]) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice[:40]!r} is given twice")
    return found


def _texts(value) -> Iterator[str]:
    """Yield all texts of a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_each_key_once)
