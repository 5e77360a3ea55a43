"""Re-ranking: the first hits of a first stage in the order of a model's scores."""

from epic.corpus.runs import Run, ScoredDoc, ranked


def head(first: Run, cutoff: int) -> Run:
    """Return the hits that are re-ranked."""
    return {query_id: hits[:cutoff] for query_id, hits in first.items()}


def rerank(first: Run, scored: Run, tail: str) -> Run:
    """Return the run in its new order; `scored` holds the head of each query's hits, the rest is its tail."""
    return {query_id: merge(scored[query_id], hits[len(scored[query_id]) :], tail) for query_id, hits in first.items()}


def merge(scored: list[ScoredDoc], rest: list[ScoredDoc], tail: str) -> list[ScoredDoc]:
    """Return the re-ranked hits, followed by the others in first-stage order (`keep`) or not at all (`drop`).

    A kept hit's score is the lowest re-ranked score minus its position, so that the file stays sorted.
    """
    best = ranked(scored)
    if tail == "drop" or not best:
        return best
    return best + [ScoredDoc(hit.doc_id, best[-1].score - place) for place, hit in enumerate(rest, start=1)]


def scores_of(family, run: Run, files, compute: dict, token_budget: int) -> Run:
    """Return the run with a family's scores: from a store if the row has one, else by the model itself."""
    if files.get("store"):
        return family.score_stored(run, files, compute)
    return family.score_run(run, files, compute, token_budget)
