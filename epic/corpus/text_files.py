"""Plain files of texts, judgments and training triples, read line by line; a malformed line is refused with its number.

A text is a line `id TAB text`, or in .jsonl files a JSON object: {"id": "7", "text": "..."}, whose text may hold tabs
and newlines. `_id`, `doc_id` or `query_id` may stand for `id`, and `contents` for `text`; other fields are ignored.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines
from epic.core.strict_json import parse_json

IDS = ("id", "_id", "doc_id", "query_id")
TEXTS = ("text", "contents")
WHOLE_NUMBER = re.compile(r"-?[0-9]+")
LONGEST_ID = 4000  # letters; TREC CAR's ids of queries are whole paths of headings, a letter of another script six letters
HIGHEST_GRADE = 1000  # collections have single digits, or percentages


class Judgment(NamedTuple):
    """The relevance of a document to a query."""

    query_id: str
    doc_id: str
    relevance: int


class Triple(NamedTuple):
    """A training example by ids."""

    query_id: str
    relevant_id: str
    other_id: str


def texts(path) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of a TSV or JSON-lines file; refuse an id that comes twice."""
    parse = _from_json if str(path).removesuffix(".gz").endswith(".jsonl") else _from_tsv
    seen = set()
    for number, line in numbered_lines(path):
        text_id, text = parse(line, f"{path} line {number}")
        if text_id in seen:
            raise InputError(f"{path} line {number}: the id {text_id} is given twice; ids must be unique")
        seen.add(text_id)
        yield text_id, text
    if not seen:
        raise InputError(f"{path}: the file is empty; expected a line for each text")


def _from_tsv(line: str, where: str) -> tuple[str, str]:
    fields = line.split("\t")
    if len(fields) != 2 or not is_id(fields[0]):
        raise InputError(
            f"{where}: expected id TAB text, the id without blanks; found {len(fields)} field(s): {line[:60]!r}; "
            "text with tabs can be given as .jsonl"
        )
    return fields[0], fields[1]


def _from_json(line: str, where: str) -> tuple[str, str]:
    try:
        found = parse_json(line)
    except ValueError as error:
        raise InputError(f'{where}: not JSON ({error}); expected {{"id": "...", "text": "..."}} on one line') from error
    if not isinstance(found, dict):
        raise InputError(f'{where}: expected an object {{"id": "...", "text": "..."}}, found {line[:60]!r}')
    given, text = _field(found, IDS, where), _field(found, TEXTS, where)
    text_id = as_id(given)
    if text_id is None:
        raise InputError(f"{where}: the id must be a string without blanks or a whole number, found {given!r:.60}")
    if not isinstance(text, str):
        raise InputError(f"{where}: the text must be a string, found {text!r:.60}")
    return text_id, text


def _field(found: dict, names: tuple[str, ...], where: str):
    """Return the value of the one field that has any of these names."""
    given = [name for name in names if name in found]
    if len(given) != 1:
        has = f"has {' and '.join(given)}; keep one" if given else f"has no {names[0]} (or {', '.join(names[1:])})"
        raise InputError(f"{where}: the object {has}")
    return found[given[0]]


def is_id(text: str) -> bool:
    """Tell whether a text can be an id: printable, without blanks of any kind, and neither empty nor endless."""
    return text.isprintable() and " " not in text and 0 < len(text) <= LONGEST_ID


def as_id(value) -> str | None:
    """Return a string or a whole number of JSON as an id; None if it cannot be one."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return text if isinstance(text, str) and is_id(text) else None


def judgments(path) -> Iterator[Judgment]:
    """Yield the lines of a TREC qrels file; refuse a document that is judged twice for a query, differently."""
    return _judgments(path, {})


def _judgments(path, grades: dict[str, dict[str, int]]) -> Iterator[Judgment]:
    """Yield the same, and keep what was judged in `grades`: a collection's training queries have a million judgments."""
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) != 4 or not WHOLE_NUMBER.fullmatch(fields[3]) or not is_id(fields[0]) or not is_id(fields[2]):
            raise InputError(
                f"{path} line {number}: expected query id, 0, document id, relevance (a whole number); found {line[:60]!r}"
            )
        query_id, _, doc_id, grade = fields
        if len(grade) > 5 or abs(int(grade)) > HIGHEST_GRADE:
            raise InputError(
                f"{path} line {number}: a grade of {grade[:20]} is not within plus or minus {HIGHEST_GRADE}; trec_eval reserves "
                "memory for every grade up to the highest and gives 0 where there is too little; map the grades to smaller ones"
            )
        before = grades.setdefault(query_id, {}).setdefault(doc_id, int(grade))
        if before != int(grade):
            raise InputError(f"{path} line {number}: {query_id} {doc_id} is judged {grade}, above {before}; keep one of them")
        yield Judgment(query_id, doc_id, int(grade))
    if not grades:
        raise InputError(f"{path}: the file is empty; expected a line for each judgment")


def triples(path) -> Iterator[Triple]:
    """Yield training triples in file order."""
    number = 0
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if len(fields) != 3 or not all(map(is_id, fields)):
            raise InputError(f"{path} line {number}: expected query TAB relevant TAB other id, found {line[:60]!r}")
        yield Triple(*fields)
    if not number:
        raise InputError(f"{path}: the file is empty; expected a line for each triple")


def read_queries(path) -> dict[str, str]:
    """Read query texts by id, in file order."""
    return dict(texts(path))


def read_qrels(path) -> dict[str, dict[str, int]]:
    """Read relevance by query id and document id."""
    qrels: dict[str, dict[str, int]] = {}
    for _ in _judgments(path, qrels):
        pass
    return qrels


def read_triples(path) -> list[Triple]:
    """Read all training triples of a file."""
    return list(triples(path))
