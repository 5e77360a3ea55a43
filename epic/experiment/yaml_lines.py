"""YAML with the line of every value, so that an error can name what the user wrote.

No value overwrites another: a key given twice is refused, and so are anchors and aliases, which would hide a file's contents.
"""

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from epic.core.files import InputError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C, if there: five times as fast
PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
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
        loader = LOADER(Path(path).read_text(encoding="utf-8"))
        _refuse_aliases(Path(path).read_text(encoding="utf-8"))
        node = loader.get_single_node()
        value = None if node is None else _value(loader, node, (), lines)
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: not valid YAML: {' '.join(str(error.problem).split())}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    lines.setdefault((), 1)
    return Written(Path(path), value, lines)


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.constructor.ConstructorError(None, None, "anchors and aliases are not allowed", event.start_mark)


def _value(loader, node, place: Place, lines: dict[Place, int]):
    lines.setdefault(place, node.start_mark.line + 1)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in PLAIN:
        raise yaml.constructor.ConstructorError(None, None, f"no tag {node.tag} is allowed", node.start_mark)
    if isinstance(node, yaml.MappingNode):
        found = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node)
            if not isinstance(key, str | int):
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is no name", key_node.start_mark)
            if key in found:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            lines[(*place, key)] = key_node.start_mark.line + 1
            found[key] = _value(loader, value_node, (*place, key), lines)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*place, number), lines) for number, item in enumerate(node.value)]
    try:
        return loader.construct_object(node)
    except (ValueError, KeyError) as error:  # a date like 2020-13-45
        raise yaml.constructor.ConstructorError(None, None, f"no value: {node.value!r} ({error})", node.start_mark) from error
