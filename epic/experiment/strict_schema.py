"""JSON Schema as experiments need it: whole numbers are whole, numbers finite, texts one line, bounds have a reason."""

import math
import re
from collections.abc import Iterator

import jsonschema

from epic.experiment.yaml_lines import Place

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # and what turns the direction of writing
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxItems")
EXPLAINED = (*BOUNDS, "pattern")
NOTE, QUERIES = ("note",), ("texts", "queries")
LONGEST = 2000  # letters of a text


def is_number(value) -> bool:
    """Tell whether a value is a finite number; NaN would pass every bound."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and math.isfinite(value))


def _is_whole(value) -> bool:
    """Tell whether a value is a whole number; JSON Schema would also take 1000.0 for one."""
    return isinstance(value, int) and not isinstance(value, bool)


def _matches(validator, pattern, instance, schema):
    """Yield an error for a text that does not match; `$` is its very end, as JSON Schema has it, and Python's `re` has not."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), instance):
        yield jsonschema.ValidationError(f"{instance!r:.60} does not match {pattern!r}")


KINDS = {"integer": lambda checker, value: _is_whole(value), "number": lambda checker, value: is_number(value)}
Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _matches},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(KINDS),
)


def words_of(error) -> str:
    """Return the message of a schema's error: of a bound or a pattern with its reason (`because`), of infinity as what it is."""
    if error.validator == "type" and isinstance(error.instance, float) and not math.isfinite(error.instance):
        return f"{error.instance} is no finite number"
    because = error.schema.get("because") if error.validator in EXPLAINED else None
    return f"{error.message[:300]}{f' ({because})' if because else ''}"


def odd_texts(said, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield the place of each text that no name, label or path should be, and what is wrong with it."""
    if isinstance(said, dict | list):
        for key, value in said.items() if isinstance(said, dict) else enumerate(said):
            if isinstance(said, dict):
                yield from ((place, message) for _, message in odd_texts(key))
            yield from odd_texts(value, (*place, key))
    elif isinstance(said, str):
        if odd := _odd_letter(said, place):
            yield place, f"{said!r:.60} holds the character {odd!r}, which cannot be seen; write it without"
        elif len(said) > LONGEST:
            yield place, f"{said!r:.60}... has {len(said)} letters; texts have at most {LONGEST}"
        elif place != NOTE and (said != said.strip() or not said):
            yield place, f"{said!r:.60} is empty, or has blanks around it; write it without"


def _odd_letter(said: str, place: Place) -> str | None:
    """Return a character that cannot be seen; a query may have those of its language, the note may have several lines."""
    if place == NOTE or place[:2] == QUERIES:
        found = CONTROL.search(said.replace("\n", " ") if place == NOTE else said)
        return found[0] if found else None
    return next((letter for letter in said if not letter.isprintable()), None)
