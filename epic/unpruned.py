"""Scores with unpruned passage vectors, without storing any.

Each candidate passage runs through the body once, and phi_d is evaluated only at the word-pieces of the queries that
have it as a candidate. Values are rounded to float16 as a stored vector's would be.
"""

import numpy as np
import torch

from epic.batches import by_tokens
from epic.data import Documents
from epic.log import progress
from epic.model import Epic
from epic.runs import Run, ScoredDoc
from epic.vectors import QueryVector


@torch.inference_mode()
def unpruned_scores(model: Epic, documents: Documents, queries: dict[str, QueryVector], run: Run, token_budget: int) -> Run:
    """The run with sim(q, d) in place of the first-stage scores, in the same order."""
    wanted: dict[str, list[str]] = {}  # document id -> queries that have it as a candidate
    for query_id, hits in run.items():
        for hit in hits:
            wanted.setdefault(hit.doc_id, []).append(query_id)
    doc_ids = list(wanted)
    pieces = dict(zip(doc_ids, model.pieces(documents.texts(doc_ids)), strict=True))
    scores: dict[tuple[str, str], float] = {}
    for batch in progress(by_tokens(pieces, token_budget, model.window), desc="passages"):
        for doc_id, terms, phi in passage_weights(model, batch, pieces, wanted, queries):
            for query_id in wanted[doc_id]:
                query = queries[query_id]
                scores[query_id, doc_id] = dot(query, phi[np.searchsorted(terms, query.terms)])
    return {query_id: [ScoredDoc(hit.doc_id, scores[query_id, hit.doc_id]) for hit in hits] for query_id, hits in run.items()}


def passage_weights(model: Epic, doc_ids, pieces, wanted, queries):
    """Yield (document id, term ids, phi_d at those terms as float16) for the terms that its queries ask for."""
    terms = {d: np.unique(np.concatenate([queries[q].terms for q in wanted[d]])) for d in doc_ids}
    tokens = model.encode([pieces[doc_id] for doc_id in doc_ids])
    longest = max(1, max(len(ids) for ids in terms.values()))
    asked = torch.zeros(len(doc_ids), longest, dtype=torch.long)  # (B, Q)
    for row, doc_id in enumerate(doc_ids):
        asked[row, : len(terms[doc_id])] = torch.from_numpy(terms[doc_id].astype(np.int64))
    columns = model.Theta2[asked.to(model.Theta2.device)]  # (B, Q, e)
    phi = model.weights_at(tokens, columns).half().cpu().numpy()  # (B, Q)
    for row, doc_id in enumerate(doc_ids):
        yield doc_id, terms[doc_id], phi[row, : len(terms[doc_id])]


def dot(query: QueryVector, weights: np.ndarray) -> float:
    """sim(q, d) in float32, summed in the order of the terms."""
    total = np.float32(0)
    for weight, value in zip(query.weights, weights.astype(np.float32), strict=True):
        total += weight * value
    return float(total)
