"""Batches of similar length: on a GPU, where attention pads, little of a forward pass is padding, and memory stays in bounds."""


def by_tokens(pieces: dict[str, list[int]], budget: int, window: int) -> list[list[str]]:
    """Group ids, longest texts first, so that a batch padded to its longest text stays within `budget` word-pieces.

    A text longer than the model's window runs as several windows, so it counts once for each of them. A text that is
    larger than the whole budget is a batch of its own.
    """
    batches: list[list[str]] = []
    rows, longest = 0, 0
    for name in sorted(pieces, key=lambda name: (-len(pieces[name]), name)):
        length = len(pieces[name])
        windows = max(1, -(-length // window))
        if not batches or (rows + windows) * longest > budget:
            batches.append([])
            rows, longest = 0, min(length, window) + 2
        batches[-1].append(name)
        rows += windows
    return batches
