"""Re-ranking: the first hits of a first stage in the order of their EPIC scores."""

from epic.lookup import scores
from epic.runs import Run, ScoredDoc, ranked
from epic.store import Store, open_store
from epic.vectors import QueryVector, read_vectors


def rescore(run: Run, vectors, checkpoint, store, manifest, compute: dict, token_budget: int) -> Run:
    """EPIC scores for a run: from a pruned store, or by the model itself where `store` is empty."""
    if store:
        return pruned_scores(open_store(store, checkpoint), read_vectors(vectors), run)
    from epic.compute import prepare  # torch and transformers take seconds to import; a pruned row needs neither
    from epic.data import open_documents
    from epic.model import Epic
    from epic.unpruned import unpruned_scores

    model = Epic.from_pretrained(checkpoint, prepare(compute["device"], compute["threads"]))
    return unpruned_scores(model, open_documents(manifest), read_vectors(vectors), run, token_budget)


def head(first: Run, cutoff: int) -> Run:
    """The hits that are re-ranked."""
    return {query_id: hits[:cutoff] for query_id, hits in first.items()}


def pruned_scores(store: Store, queries: dict[str, QueryVector], run: Run) -> Run:
    """The run with sim(q, d) of stored vectors in place of the first-stage scores, in the same order."""
    scored = {}
    for query_id, hits in run.items():
        doc_ids = [hit.doc_id for hit in hits]
        found = scores(store, doc_ids, queries[query_id]).tolist()
        scored[query_id] = [ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, found, strict=True)]
    return scored


def rerank(first: Run, scored: Run, tail: str) -> Run:
    """The run in its new order; `scored` holds the head of each query's hits, the rest is its tail."""
    return {query_id: merge(scored[query_id], hits[len(scored[query_id]) :], tail) for query_id, hits in first.items()}


def merge(scored: list[ScoredDoc], rest: list[ScoredDoc], tail: str) -> list[ScoredDoc]:
    """The re-ranked hits, followed by the others in first-stage order (`keep`) or not at all (`drop`).

    A kept hit's score is the lowest re-ranked score minus its position, so that the file stays sorted.
    """
    best = ranked(scored)
    if tail == "drop" or not best:
        return best
    return best + [ScoredDoc(hit.doc_id, best[-1].score - place) for place, hit in enumerate(rest, start=1)]
