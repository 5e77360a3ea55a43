"""YAML with the line of every value, so that an error can name what the user wrote.

No value overwrites another: a key given twice is refused, and so are anchors and aliases, which would hide a file's contents
and let a small file grow without end. Numbers are those that people mean: 5e-5 is one, and 010, 1:30 or 0x10, which YAML 1.1
reads as 8, 90 and 16, are refused.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from epic.core.files import InputError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, if there: five times as fast
PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
WHOLE, FRACTION, TEXT = (f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "str"))
NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
LARGEST = 1_000_000  # bytes of a file; the paper's experiment has 16,000
DEEPEST = 20  # lists and mappings inside each other
LONGEST = 24  # letters of a number; digests are longer
Place = tuple[str | int, ...]  # keys and positions, from the top of a file down to a value


class Written(NamedTuple):
    """The contents of a file, and the line of each of its values."""

    path: Path
    value: Any
    lines: dict[Place, int]

    def line(self, place: Place) -> int:
        """Return the line of a value, or of the nearest one around it."""
        return next(self.lines[place[:depth]] for depth in range(len(place), -1, -1) if place[:depth] in self.lines)


def read_yaml(path) -> Written:
    """Read a file, or raise an InputError that names it and the line."""
    lines: dict[Place, int] = {}
    try:
        text = _text(Path(path))
        _refuse_hiding(text)
        loader = LOADER(text)
        node = loader.get_single_node()
        value = None if node is None else _value(loader, node, (), lines)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: not valid YAML: {_short(error.problem)}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise InputError(f"{path}: not valid YAML: {_short(error)}") from error
    lines.setdefault((), 1)
    return Written(Path(path), value, lines)


def _short(error) -> str:
    return " ".join(str(error).split())[:200]


def _text(path: Path) -> str:
    with open(path, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise yaml.YAMLError(f"more than {LARGEST} bytes are no experiment")
    return data.decode("utf-8")


def _refuse_hiding(text: str) -> None:
    """Refuse anchors, aliases, tags and depth, while nothing has been built from them yet."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _error("anchors and aliases are not allowed", event)
        if getattr(event, "tag", None):
            raise _error(f"no tag {event.tag} is allowed", event)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise _error(f"lists and mappings are more than {DEEPEST} deep", event)


def _error(problem: str, node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _value(loader, node, place: Place, lines: dict[Place, int]):
    lines.setdefault(place, node.start_mark.line + 1)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in PLAIN:
        raise _error(f"no tag {node.tag} is allowed", node)
    if isinstance(node, yaml.MappingNode):
        found = {}
        for key_node, value_node in node.value:
            key = _scalar(loader, key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str | int):
                raise _error(f"the key {key_node.value!r:.80} is no name", key_node)
            if key in found:
                raise _error(f"key {key!r:.80} is given twice", key_node)
            lines[(*place, key)] = key_node.start_mark.line + 1
            found[key] = _value(loader, value_node, (*place, key), lines)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*place, number), lines) for number, item in enumerate(node.value)]
    return _scalar(loader, node)


def _scalar(loader, node):
    """Return a text, number, truth value, date or nothing."""
    if node.tag in (WHOLE, FRACTION):
        if len(node.value) > LONGEST:
            raise _error(f"{node.value[:20]}... is too long for a number; a text is quoted", node)
        if not NUMBER.fullmatch(node.value) and node.value.lstrip("+-").lower() not in (".inf", ".nan"):
            raise _error(f"{node.value!r} can be read as one number or another; write it in decimals, or quote it", node)
    if node.tag == TEXT and not node.style and len(node.value) <= LONGEST and NUMBER.fullmatch(node.value):
        return float(node.value)  # YAML 1.1 wants 5.0e-5
    try:
        return loader.construct_object(node)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:  # a date like 2020-13-45
        raise _error(f"no value: {node.value!r:.60} ({error})", node) from error
