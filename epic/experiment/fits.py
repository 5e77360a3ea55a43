"""Rules between the sizes of a model that no JSON schema can state: a literal FITS of its family, read without importing it.

    FITS = [{"at": "query_words", "holds": "query_words >= window", "says": "{query_words} words have no window; raise it"}]

    at      the setting to blame, or encoder
    holds   a comparison of sums, differences, products and remainders of whole numbers
    says    what is wrong where it does not hold and, after a semicolon, the remedy; braces hold such sums

A name is a setting of the model, encoder.KEY a number of its encoder's config.json. A rule counts once all its numbers are known.
"""

import ast
import operator
import re
from collections.abc import Iterator, Mapping, Sequence

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod}
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq}
FIELD = re.compile(r"\{([^{}]*)\}")
ENCODER = "encoder"
Rules = Sequence[dict[str, str]]
Place = tuple[str, ...]


def unmet(rules: Rules, settings: Mapping, encoder: Mapping) -> Iterator[tuple[Place, str]]:
    """Yield (place in a model, what is wrong) of each rule that does not hold; encoder: its config.json, or {} if unknown."""
    numbers = _whole(settings) | {f"{ENCODER}.{key}": value for key, value in _whole(encoder).items()}
    for rule in rules:
        if names_in(rule) <= numbers.keys() and not _holds(_parsed(rule["holds"]), numbers):
            place = (ENCODER,) if rule["at"] == ENCODER else ("settings", rule["at"])
            yield place, FIELD.sub(lambda field: str(_value(_parsed(field[1]), numbers)), rule["says"])


def names_in(rule: dict[str, str]) -> set[str]:
    """Return the names of a rule's numbers; raise a ValueError or SyntaxError for one that cannot be kept."""
    comparison = _parsed(rule["holds"])
    if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1 or type(comparison.ops[0]) not in COMPARISONS:
        raise ValueError(f"{rule['holds']!r:.80} is no comparison of two sums")
    sums = [comparison.left, *comparison.comparators, *(_parsed(text) for text in FIELD.findall(rule["says"]))]
    return {name for part in sums for name in _names(part)}


def _whole(said: Mapping) -> dict[str, int]:
    """Return the whole numbers of some settings."""
    return {key: value for key, value in said.items() if type(value) is int}


def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _names(node: ast.expr) -> Iterator[str]:
    """Yield the names in a sum; refuse what is none."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        yield from (*_names(node.left), *_names(node.right))
    elif isinstance(node, ast.Name | ast.Attribute):
        yield _name(node)
    elif not (isinstance(node, ast.Constant) and type(node.value) is int):
        raise ValueError(f"{ast.unparse(node)!r:.80} is no sum of whole numbers")


def _name(node: ast.Name | ast.Attribute) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node.value, ast.Name) and node.value.id == ENCODER:
        return f"{ENCODER}.{node.attr}"
    raise ValueError(f"{ast.unparse(node)!r:.80} is neither a setting nor {ENCODER}.KEY")


def _holds(comparison: ast.Compare, numbers: dict[str, int]) -> bool:
    return COMPARISONS[type(comparison.ops[0])](_value(comparison.left, numbers), _value(comparison.comparators[0], numbers))


def _value(node: ast.expr, numbers: dict[str, int]) -> int:
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_value(node.left, numbers), _value(node.right, numbers))
    return node.value if isinstance(node, ast.Constant) else numbers[_name(node)]
