"""The batches of the released code, for models that are compared with what it computed. Nothing here needs torch."""

from collections.abc import Callable

BATCH, LIMIT = 8, 2000  # passages at a time when it writes vectors, and word-pieces of a passage


def longest_passages(pieces_of: Callable, documents, doc_ids) -> dict[str, int]:
    """Return the word-pieces of the longest passage in each passage's batch of the released code; pieces_of: from texts to them.

    That code takes eight passages at a time, in the order of the collection. It drops a last batch of fewer; here these
    passages are padded among themselves.
    """
    numbers = {doc_id: place // BATCH for doc_id, place in zip(doc_ids, documents.positions(doc_ids), strict=True)}
    longest = {}
    for number in sorted(set(numbers.values())):
        beside = documents.span(range(number * BATCH, min((number + 1) * BATCH, len(documents))))
        longest[number] = min(LIMIT, max(map(len, pieces_of(text for _, text in beside))))
    return {doc_id: longest[number] for doc_id, number in numbers.items()}


def longest_for(model, documents, doc_ids) -> dict[str, int] | None:
    """Return the same where a model asks for it, None where it does not."""
    return longest_passages(model.pieces, documents, doc_ids) if model.released_batches else None
