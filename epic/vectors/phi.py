"""phi_d over the whole vocabulary (equation 4), a block of terms at a time, so that memory does not grow with both.

Each block's scores of all word-pieces are reduced to a maximum per passage at once: by compiled code on a CPU, by torch
elsewhere.
"""

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from epic.core.files import InputError
from epic.core.kernels import compiled
from epic.model.device import out_of_memory
from epic.model.epic import EpicModel, Tokens
from epic.model.equations import segment_bounds, strongest_of_each
from epic.model.products import filled, product
from epic.model.query_vector import refuse_infinite
from epic.vectors.batches import Budget, computed

ONE, HALF, THIRD, QUARTER, TWENTY = (np.float32(value) for value in (1, 1 / 2, 1 / 3, 1 / 4, 20))  # a double would slow all down
SMALL = np.float32(0.02)  # below it the first omitted term of the series is less than a unit in the last place


def vectors_by_batch(
    model: EpicModel, pieces: dict[str, list[int]], token_budget: int, block: int, longest: dict[str, int] | None = None
):
    """Yield (places in `pieces`, unpruned float16 vectors as an array (b, V)), batch by batch, longest passages first.

    longest: what `longest_passages` returns, if vectors are to be those of the released code's batches.
    """
    batches = reduced_by_batch(model, pieces, Budget(token_budget), block, longest, lambda vectors, rows: vectors)
    yield from ((rows, vectors.cpu().numpy()) for rows, vectors in batches)


def reduced_by_batch(model: EpicModel, pieces: dict, budget: Budget, block: int, longest: dict | None, reduce: Callable):
    """Yield (places in `pieces`, what `reduce` makes of their vectors, a tensor (b, V) that lies where the model does).

    `reduce` gets the vectors and their places, and waits for nothing: a batch is yielded when the next one has been asked for,
    so that a card never waits for the program. Memory that runs out while reducing leads to smaller batches, too.
    """
    place = {doc_id: row for row, doc_id in enumerate(pieces)}

    def reduced(batch: list[str]):
        vectors = _vectors_of(model, {doc_id: pieces[doc_id] for doc_id in batch}, block, longest)  # (b, V)
        return torch.isfinite(vectors).all(dim=1), reduce(vectors, [place[doc_id] for doc_id in batch])

    for batch, (finite, found) in one_behind(computed(pieces, budget, model.body.window, reduced)):
        finite = finite.tolist()
        if not all(finite):
            refuse_infinite(batch[finite.index(False)])
        yield [place[doc_id] for doc_id in batch], found


def one_behind(items: Iterable):
    """Yield every item once the next one is there."""
    before = []
    for item in items:
        yield from before
        before = [item]
    yield from before


def _vectors_of(model: EpicModel, pieces: dict[str, list[int]], block: int, longest: dict[str, int] | None) -> Tensor:
    """Return vectors of a batch, or name the passages that failed: a single one if it fails alone."""
    try:
        return document_tensors(model, list(pieces.values()), block, longest and [longest[doc_id] for doc_id in pieces])
    except (RuntimeError, MemoryError, IndexError) as error:
        if len(pieces) > 1 and out_of_memory(error):
            raise  # smaller batches may fit
        if len(pieces) > 1 and model.device == "cpu":
            for doc_id, ids in pieces.items():  # after another error a GPU fails at everything
                _vectors_of(model, {doc_id: ids}, block, longest)
        named, most = ", ".join(map(str, list(pieces)[:3])), max(map(len, pieces.values()))
        raise InputError(
            f"encoding failed at document {named}{' ...' if len(pieces) > 3 else ''} ({len(pieces)} at a time, the longest of "
            f"{most} word-pieces): {str(error)[:300]}; if memory ran out, lower encode.vocabulary_block"
        ) from error


def document_vectors(model: EpicModel, pieces: list[list[int]], block: int, longest: list[int] | None = None) -> np.ndarray:
    """Return phi_d of a batch of passages as an array of float16, (B, V); values that may not be finite become NaN."""
    return document_tensors(model, pieces, block, longest).cpu().numpy()


@torch.inference_mode()
def document_tensors(model: EpicModel, pieces: list[list[int]], block: int, longest: list[int] | None = None) -> Tensor:
    """Return the same where the model lies."""
    with model.autocast():
        tokens = model.passage_tokens(pieces, longest)
        c = model.equations.c(tokens.cls)  # (B,)
        on_cpu = tokens.f.device.type == "cpu" and tokens.f.dtype == model.precision == torch.float32
        vectors = torch.empty(len(pieces), model.vocabulary, dtype=torch.float16, device=tokens.f.device)  # (B, V)
        for terms, best in (_by_kernel if on_cpu else _by_torch)(model, tokens, block):
            vectors[:, terms] = (c[:, None] * best).half()  # (B, v)
    return vectors


def _by_torch(model: EpicModel, tokens: Tokens, block: int):
    """Yield (terms, the maximum over each passage's word-pieces (B, v)): a few launches a block, however many passages."""
    h, w = model.equations.hidden(tokens.f), model.equations.w_d(tokens.f)  # (N, e), (N,)
    bounds = segment_bounds(tokens.lengths, h.device)  # (B+1,)
    for terms in _blocks(model.vocabulary, block):
        weights = w[:, None] * model.equations.psi(h, terms)  # (N, v)
        yield terms, strongest_of_each(weights, bounds)  # (B, v)


def _by_kernel(model: EpicModel, tokens: Tokens, block: int):
    """Yield the same by compiled code. It ignores NaN in the maximum, so values that may not be finite are found first."""
    equations = model.equations
    h, w = equations.hidden(tokens.f), equations.w_d(tokens.f)  # (N, e), (N,)
    bounds = np.cumsum([0, *tokens.lengths])  # (B+1,)
    unsafe = _unsafe(model, h, w, tokens.lengths)  # (B, 1)
    all_safe = not unsafe.any()
    order = by_weight(w.numpy(), bounds)  # (N,)
    h, best = filled(h), torch.empty(len(tokens.lengths) * block)  # (N or a few more, e)
    for terms in _blocks(model.vocabulary, block):
        size = terms.stop - terms.start
        matrix, bias = equations.head(terms)  # (v, e), (v,)
        products = product(h, matrix)  # (N or a few more, v)
        found = best[: len(tokens.lengths) * size].view(-1, size)  # (B, v)
        kernel = linear_maximum if bias is None else partial(damped_maximum, bias.numpy())
        _run(kernel, products.numpy(), w.numpy(), order, bounds, found.numpy())
        del products  # or there would be two, with the next block's
        yield terms, found if all_safe else found.masked_fill(unsafe, torch.nan)


def _run(kernel, products: np.ndarray, w: np.ndarray, order: np.ndarray, bounds: np.ndarray, best: np.ndarray) -> None:
    """Run the kernel over all passages, in as many threads as torch may use."""
    threads = min(torch.get_num_threads(), len(best))
    if threads <= 1:
        kernel(products, w, order, bounds, best)
        return
    cuts = [len(best) * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        parts = [
            pool.submit(kernel, products, w, order, bounds[start : stop + 1], best[start:stop]) for start, stop in pairwise(cuts)
        ]
        for part in parts:
            part.result()


def _unsafe(model: EpicModel, h: Tensor, w: Tensor, lengths: list[int]) -> Tensor:
    """Mark passages that might have a weight that is not finite, (B, 1)."""
    reach = model.equations.reach(h) * w.abs()  # (N,), NaN or infinite where anything is
    safe = reach < torch.finfo(h.dtype).max / 2  # (N,)
    return torch.stack([~part.all() for part in safe.split(lengths)])[:, None]  # (B, 1)


def _blocks(vocabulary: int, block: int):
    return (slice(start, min(start + block, vocabulary)) for start in range(0, vocabulary, block))


# The maximum of equation 4 by compiled code: `scores` (N, v) are those of all word-pieces, packed; passage b has the rows
# bounds[b] to bounds[b+1]. w is never negative. A passage without word-pieces has zeros.


def by_weight(w: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the rows of each passage, the largest w first: (N,)."""
    owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))  # (N,)
    return np.lexsort((-w, owners))  # (N,)


@compiled
def linear_maximum(scores, w, order, bounds, best):  # pragma: no cover - compiled
    """Set best[b] to the maximum over the passage's rows t of w[t] * scores[t]."""
    for passage in range(len(bounds) - 1):
        found = best[passage]
        found[:] = 0.0 if bounds[passage] == bounds[passage + 1] else -np.inf
        for row in range(bounds[passage], bounds[passage + 1]):
            for term in range(scores.shape[1]):
                found[term] = max(found[term], w[row] * scores[row, term])


@compiled
def damped_maximum(bias, scores, w, order, bounds, best):  # pragma: no cover - compiled
    """Set best[b] to the maximum over the passage's rows t of w[t] * ln(1 + softplus(scores[t] + bias)).

    Rows come with the largest w first. ln(1 + softplus(x)) grows with x, so a row can only win if its score beats the
    scores of all rows before it: a few rows of a hundred, and only for these the logarithms are computed.
    """
    highest = np.empty(scores.shape[1], dtype=scores.dtype)
    for passage in range(len(bounds) - 1):
        found = best[passage]
        found[:] = 0.0
        highest[:] = -np.inf
        for place in range(bounds[passage], bounds[passage + 1]):
            row = order[place]
            for term in range(scores.shape[1]):
                if scores[row, term] > highest[term]:
                    highest[term] = scores[row, term]
                    found[term] = max(found[term], w[row] * _activation(scores[row, term] + bias[term]))


@compiled
def _activation(x):  # pragma: no cover - compiled
    """Return ln(1 + softplus(x)). For small e^x, the usual case, a series is as exact as the logarithms in half the time."""
    if x > TWENTY:
        return math.log1p(x)  # like torch
    power = math.exp(x)
    if power > SMALL:
        return math.log1p(math.log1p(power))
    return _series(_series(power))


@compiled
def _series(x):  # pragma: no cover - compiled
    """Return ln(1 + x) for small x."""
    return x * (ONE - x * (HALF - x * (THIRD - x * QUARTER)))
