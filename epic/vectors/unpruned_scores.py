"""Scores with unpruned passage vectors, without storing any.

Each candidate passage runs through the body once, and phi_d is evaluated only at the word-pieces of the queries that
have it as a candidate. Values are rounded to float16 as a stored vector's would be.
"""

from collections.abc import Callable

import numpy as np
import torch

from epic.core.log import progress
from epic.corpus.documents import Documents, open_documents
from epic.corpus.runs import Run, ScoredDoc
from epic.model.epic import EpicModel, Tokens, load_model
from epic.model.equations import segment_bounds, strongest, strongest_of_each
from epic.model.query_vector import QueryVector, finite, read_vectors
from epic.vectors.batches import Budget, computed
from epic.vectors.released_batches import longest_for

TERMS_AT_A_TIME = 2048  # on a card: their products with all word-pieces of a batch
AT_A_TIME = 20_000  # passages whose texts and word-pieces are in memory; a large query set has millions of candidates


def unpruned_run(run: Run, vectors, checkpoint, manifest, compute: dict, token_budget: int) -> Run:
    """Return EPIC scores for a run, from the files of an experiment, by running the model."""
    model = load_model(checkpoint, compute)
    return unpruned_scores(model, open_documents(manifest), read_vectors(vectors), run, token_budget)


def unpruned_scores(model: EpicModel, documents: Documents, queries: dict[str, QueryVector], run: Run, token_budget: int) -> Run:
    """Return the run with sim(q, d) in place of the first-stage scores, in the same order."""
    wanted: dict[str, list[str]] = {}  # document id -> queries that have it as a candidate
    for query_id, hits in run.items():
        for hit in hits:
            wanted.setdefault(hit.doc_id, []).append(query_id)
    doc_ids, scores = list(wanted), {}
    with progress(total=len(doc_ids), desc="passages", unit="passage") as bar:
        for place in range(0, len(doc_ids), AT_A_TIME):
            some = doc_ids[place : place + AT_A_TIME]
            pieces = dict(zip(some, model.pieces(documents.texts(some)), strict=True))
            longest = longest_for(model, documents, some)
            scores |= pair_scores(model, pieces, wanted, queries, token_budget, bar.update, longest)
    return {query_id: [ScoredDoc(hit.doc_id, scores[query_id, hit.doc_id]) for hit in hits] for query_id, hits in run.items()}


@torch.inference_mode()
def pair_scores(
    model: EpicModel,
    pieces: dict,
    wanted: dict,
    queries: dict,
    token_budget: int,
    done: Callable = lambda passages: None,
    longest: dict[str, int] | None = None,
) -> dict:
    """Return sim(q, d) by (query id, document id) for every document and the queries that want it; `done` gets batch sizes."""
    scores = {}

    def weights_of(batch: list[str]) -> list:
        with model.autocast():
            return list(passage_weights(model, batch, pieces, wanted, queries, longest))

    for batch, found in computed(pieces, Budget(token_budget), model.body.window, weights_of):
        for doc_id, terms, phi in found:
            for query_id in wanted[doc_id]:
                query = queries[query_id]
                scores[query_id, doc_id] = dot(query, phi[np.searchsorted(terms, query.terms)])
        done(len(batch))
    return scores


def passage_weights(model: EpicModel, doc_ids, pieces, wanted, queries, longest=None):
    """Yield (document id, term ids, phi_d at those terms as float16) for the terms that its queries ask for."""
    limits = longest and [longest[doc_id] for doc_id in doc_ids]
    tokens = model.passage_tokens([pieces[doc_id] for doc_id in doc_ids], limits)
    asked = [
        np.unique(np.concatenate([queries[query_id].terms for query_id in wanted[doc_id]])) for doc_id in doc_ids
    ]  # B of (Q,)
    found = (_one_by_one if model.device == "cpu" else _together)(model.equations, tokens, asked)
    for doc_id, terms, phi in zip(doc_ids, asked, found, strict=True):
        finite(doc_id, phi)
        yield doc_id, terms, phi


def _one_by_one(equations, tokens: Tokens, asked: list[np.ndarray]):
    """Yield phi_d of each passage at its own terms (Q,): the fewest products, and a few calls a passage."""
    h, w_d, c = equations.hidden(tokens.f), equations.w_d(tokens.f), equations.c(tokens.cls)  # (N, e), (N,), (B,)
    for terms, h_d, w, c_d in zip(asked, h.split(tokens.lengths), w_d.split(tokens.lengths), c, strict=True):
        psi = equations.psi(h_d, torch.from_numpy(terms.astype(np.int64)))  # (T, Q)
        yield (c_d * strongest(w[:, None] * psi)).half().numpy()  # (Q,)


def _together(equations, tokens: Tokens, asked: list[np.ndarray]):
    """Yield the same from all passages at the terms of all their queries: some products are not needed, but a card gets few
    calls, and is waited for once."""
    h, w_d, c = equations.hidden(tokens.f), equations.w_d(tokens.f), equations.c(tokens.cls)  # (N, e), (N,), (B,)
    terms, bounds = np.unique(np.concatenate(asked)), segment_bounds(tokens.lengths, h.device)  # (U,), (B+1,)
    ids = torch.from_numpy(terms.astype(np.int64)).to(h.device)  # (U,)
    best = [
        strongest_of_each(w_d[:, None] * equations.psi(h, part), bounds) for part in ids.split(TERMS_AT_A_TIME)
    ]  # (B, v) each
    phi = (c[:, None] * torch.cat(best, dim=1)).half().cpu().numpy()  # (B, U)
    for row, mine in zip(phi, asked, strict=True):
        yield row[np.searchsorted(terms, mine)]  # (Q,)


def dot(query: QueryVector, weights: np.ndarray) -> float:
    """Return sim(q, d) in float32, summed in the order of the terms."""
    total = np.float32(0)
    for weight, value in zip(query.weights, weights.astype(np.float32), strict=True):
        total += weight * value
    return float(total)
