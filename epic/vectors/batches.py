"""Batches of similar length: on a GPU, where attention pads, little of a forward pass is padding.

And the batches of the released code, for models that are compared with what it computed.
"""

BATCH, LIMIT = 8, 2000  # of the released code: passages at a time when it writes vectors, and word-pieces of a passage


def by_tokens(pieces: dict[str, list[int]], budget: int, window: int) -> list[list[str]]:
    """Group ids, longest texts first, so that a batch stays within `budget` word-pieces, [CLS] and [SEP] included.

    A text longer than the model's window runs as several windows, each with its own [CLS] and [SEP]. A text larger than
    the whole budget is a batch of its own.
    """
    batches: list[list[str]] = []
    total = 0
    for name in sorted(pieces, key=lambda name: (-len(pieces[name]), name)):
        length = len(pieces[name])
        size = length + 2 * max(1, -(-length // window))
        if not batches or total + size > budget:
            batches.append([])
            total = 0
        batches[-1].append(name)
        total += size
    return batches


def longest_passages(model, documents, doc_ids) -> dict[str, int] | None:
    """Return the word-pieces of the longest passage in each passage's batch of the released code, None if the model does not
    ask for them.

    That code takes eight passages at a time, in the order of the collection. It drops a last batch of fewer; here these
    passages are padded among themselves.
    """
    if not model.released_batches:
        return None
    numbers = {doc_id: place // BATCH for doc_id, place in zip(doc_ids, documents.positions(doc_ids), strict=True)}
    longest = {}
    for number in sorted(set(numbers.values())):
        beside = documents.span(range(number * BATCH, min((number + 1) * BATCH, len(documents))))
        longest[number] = min(LIMIT, max(map(len, model.pieces(text for _, text in beside))))
    return {doc_id: longest[number] for doc_id, number in numbers.items()}
