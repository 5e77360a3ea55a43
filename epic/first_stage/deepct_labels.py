"""Files of DeepCT's labels, a line of JSON for each passage that is relevant to a query:

    {"id": "7", "queries": 2, "recall": {"cost": 0.5, "pools": 1.0}}

A word that is in no query is not listed: its recall is 0. Apart from `recall`, which needs Java: training only reads.
"""

import json
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines
from epic.core.strict_json import parse_json
from epic.corpus.text_files import as_id


class Labels(NamedTuple):
    """The labels of a passage."""

    doc_id: str
    queries: int  # how many it is relevant to
    recall: dict[str, float]  # by word, without words of recall 0


def line_of(labels: Labels) -> str:
    """Return the line of a passage."""
    return json.dumps({"id": labels.doc_id, "queries": labels.queries, "recall": labels.recall}, ensure_ascii=False) + "\n"


def read_labels(path) -> list[Labels]:
    """Read the labels of all passages."""
    found = [_labels(path, number, line) for number, line in numbered_lines(path)]
    if not found:
        raise InputError(f"{path}: the file is empty; make it again")
    return found


def _labels(path, number: int, line: str) -> Labels:
    try:
        record = parse_json(line)
        labels = Labels(as_id(record["id"]), record["queries"], record["recall"])
        shares = labels.recall.values()
        if labels.doc_id is None or not all(isinstance(share, float) and 0 < share <= 1 for share in shares):
            raise TypeError("an id, and shares between 0 and 1")
        return labels
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} line {number}: expected id, queries and recall, found {line[:60]!r}; make it again") from error
