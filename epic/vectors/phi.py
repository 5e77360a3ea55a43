"""phi_d over the whole vocabulary (equation 4), a block of terms at a time, so that memory does not grow with both.

Each block's scores of all word-pieces land in one buffer, and are reduced to a maximum per passage straight away: by
compiled code on a CPU, by torch elsewhere.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from epic import maxima
from epic.equations import strongest
from epic.model import Epic, Tokens


@torch.inference_mode()
def document_vectors(model: Epic, pieces: list[list[int]], block: int) -> np.ndarray:
    """phi_d of a batch of passages as float16, (B, V); what may not be finite comes out as NaN."""
    with model.autocast():
        tokens = model.passage_tokens(pieces)
        c = model.equations.c(tokens.cls)  # (B,)
        compiled = tokens.f.device.type == "cpu" and tokens.f.dtype == model.precision == torch.float32
        vectors = np.empty((len(pieces), model.vocabulary), dtype=np.float16)  # (B, V)
        for terms, best in (_by_kernel if compiled else _by_torch)(model, tokens, block):
            vectors[:, terms] = (c[:, None] * best).half().cpu().numpy()  # (B, v)
    return vectors


def _by_torch(model: Epic, tokens: Tokens, block: int):
    """Yield (terms, the maximum over each passage's word-pieces (B, v))."""
    h, w = model.equations.hidden(tokens.f), model.equations.w_d(tokens.f)  # (N, e), (N,)
    for terms in _blocks(model.vocabulary, block):
        weights = w[:, None] * model.equations.psi(h, terms)  # (N, v)
        yield terms, torch.stack([strongest(part) for part in weights.split(tokens.lengths)])  # (B, v)


def _by_kernel(model: Epic, tokens: Tokens, block: int):
    """The same by compiled code. It passes over NaN when it looks for the largest, so what may not be finite is found first."""
    equations = model.equations
    h, w = equations.hidden(tokens.f), equations.w_d(tokens.f)  # (N, e), (N,)
    bounds = np.cumsum([0, *tokens.lengths])  # (B+1,)
    unsafe = _unsafe(model, h, w, tokens.lengths)  # (B, 1)
    all_safe = not unsafe.any()
    order = maxima.by_weight(w.numpy(), bounds)  # (N,)
    scores, best = torch.empty(len(h) * block), torch.empty(len(tokens.lengths) * block)
    for terms in _blocks(model.vocabulary, block):
        size = terms.stop - terms.start
        products = scores[: len(h) * size].view(len(h), size)  # (N, v)
        matrix, bias = equations.head(terms)  # (v, e), (v,)
        torch.mm(h, matrix.mT, out=products)
        found = best[: len(tokens.lengths) * size].view(-1, size)  # (B, v)
        kernel = maxima.linear if bias is None else partial(maxima.damped, bias.numpy())
        _run(kernel, products.numpy(), w.numpy(), order, bounds, found.numpy())
        yield terms, found if all_safe else found.masked_fill(unsafe, torch.nan)


def _run(kernel, products: np.ndarray, w: np.ndarray, order: np.ndarray, bounds: np.ndarray, best: np.ndarray) -> None:
    """The kernel over all passages, in as many threads as torch may use."""
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


def _unsafe(model: Epic, h: Tensor, w: Tensor, lengths: list[int]) -> Tensor:
    """Passages that might have a weight that is not finite, (B, 1)."""
    reach = model.equations.reach(h) * w.abs()  # (N,), NaN or infinite where anything is
    safe = reach < torch.finfo(h.dtype).max / 2  # (N,)
    return torch.stack([~part.all() for part in safe.split(lengths)])[:, None]  # (B, 1)


def _blocks(vocabulary: int, block: int):
    return (slice(start, min(start + block, vocabulary)) for start in range(0, vocabulary, block))
