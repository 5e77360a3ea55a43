"""Queries as a dataset publishes them, each id once."""

import logging
from collections.abc import Iterable

from epic.core.files import InputError
from epic.corpus.text_files import LONGEST_ID, is_id

log = logging.getLogger(__name__)


def query_texts(queries: Iterable, dataset: str) -> dict[str, str]:
    """Return query texts by id. TREC CAR has an id twice where a page has a heading twice: the first counts, for both."""
    found: dict[str, str] = {}
    again = []
    for query in queries:
        if not is_id(query.query_id):
            raise InputError(
                f"{dataset}: {query.query_id!r:.100} cannot be the id of a query: it is empty, has blanks or control characters, "
                f"or is longer than {LONGEST_ID} letters"
            )
        if query.query_id in found:
            again.append(query.query_id)
        else:
            found[query.query_id] = query.default_text()
    if not found:
        raise InputError(
            f"{dataset} has no queries: there is no heading in its outlines, or no line in its file; choose another set"
        )
    if again:
        ids = "query id comes" if len(again) == 1 else "query ids come"
        log.warning("%s: %d %s again, the first being %s; each counts once", dataset, len(again), ids, again[0])
    return found
