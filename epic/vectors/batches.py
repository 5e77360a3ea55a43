"""Batches of similar length: on a GPU, where attention pads, little of a forward pass is padding."""


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
