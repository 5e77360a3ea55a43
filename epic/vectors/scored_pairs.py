"""Scores and unpruned vectors that encoding left beside its shards, as later stages read them."""

import logging
from pathlib import Path

import numpy as np

from epic.core.files import InputError, read_json
from epic.corpus.documents import Documents
from epic.corpus.runs import Run, ScoredDoc
from epic.vectors.candidates import Candidates

log = logging.getLogger(__name__)
FACTS, SCORES, DENSE = "scored.json", "scores.f32", "dense.f16"  # as epic.vectors.asked writes them


class Scored:
    """The answers of all shards of a model to its candidates."""

    def __init__(self, candidates, shards):
        self.candidates, self.shards = Candidates(candidates), sorted(map(Path, shards), key=_first)

    @property
    def is_current(self) -> bool:
        """Whether the shards were asked for these very candidates: they may have been encoded before a query set was added."""
        facts = [read_json(shard / FACTS) if (shard / FACTS).exists() else {} for shard in self.shards]
        return all(fact.get("candidates") == self.candidates.digest for fact in facts)

    def scores(self) -> np.ndarray:
        """Return the score of every pair (P,)."""
        found = [np.fromfile(shard / SCORES, np.float32) for shard in self.shards]
        whole = np.concatenate([np.empty(0, np.float32), *found])  # (P,)
        if len(whole) != self.candidates.pairs:
            raise InputError(f"{self.shards[0].parent}: {len(whole)} scores of {self.candidates.pairs} pairs; encode again")
        return whole

    def run(self, first: Run, query_set: str, documents: Documents) -> Run:
        """Return a run with sim(q, d) of unpruned vectors in place of its scores, in the same order."""
        numbers, collection = self.candidates.numbers(query_set), self.candidates.collection(documents)
        start = self.candidates.query_sets[query_set]["start"]
        mine = (self.candidates.queries >= start) & (self.candidates.queries < start + len(numbers))  # (P,)
        keys = self.candidates.queries[mine].astype(np.int64) << 32 | self.candidates.rows[mine]  # (p,)
        order, scores = np.argsort(keys), self.scores()[mine]  # (p,), (p,)
        keys, scores = keys[order], scores[order]  # (p,) each
        found = {}
        for query_id, hits in first.items():
            rows = np.array(collection.positions([hit.doc_id for hit in hits]), dtype=np.int64)  # (k,)
            wanted = numbers[query_id] << 32 | rows  # (k,)
            places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))  # (k,)
            if len(wanted) and (not len(keys) or (keys[places] != wanted).any()):
                raise InputError(f"{self.candidates.path}: a hit of query {query_id} is no candidate; make the candidates again")
            values = scores[places].tolist() if len(wanted) else []
            found[query_id] = [ScoredDoc(hit.doc_id, value) for hit, value in zip(hits, values, strict=True)]
        return found

    def vectors(self, doc_ids: list[str], documents: Documents):
        """Yield (place in `doc_ids`, unpruned vector (V,)) of the documents whose vectors were kept."""
        dense = self.candidates.array("dense.i64")  # (D,)
        rows = np.array(self.candidates.collection(documents).positions(doc_ids), dtype=np.int64)  # (n,)
        places = np.searchsorted(dense, rows)  # (n,)
        kept = np.flatnonzero(np.append(dense, -1)[places] == rows)  # (m,)
        wanted = dict(zip(places[kept].tolist(), kept.tolist(), strict=True))  # place among all that were kept -> in `doc_ids`
        begin = 0
        for shard in self.shards:
            vocabulary = read_json(shard / "header.json")["vocabulary"]
            count = (shard / DENSE).stat().st_size // (2 * vocabulary)
            held = np.memmap(shard / DENSE, np.float16, "r", shape=(count, vocabulary)) if count else ()
            for row in sorted(wanted.keys() & range(begin, begin + count)):
                yield wanted[row], held[row - begin]  # (V,)
            begin += count


def opened(files) -> Scored | None:
    """Open what encoding scored, where a job has `candidates` and `scored` shards among its files; None if it has not, or if
    others were scored, so that the model must be run."""
    candidates, shards = (getattr(files, name, None) for name in ("candidates", "scored"))
    if not candidates or not shards:
        return None
    scored = Scored(candidates, shards)
    if not scored.is_current:
        log.warning("%s has changed since passages were encoded: their scores are computed anew", candidates)
        return None
    return scored


def _first(shard: Path) -> tuple[int, int]:
    """Return the number of a shard's first pair, and its own number: empty shards have the same."""
    facts = read_json(shard / FACTS) if (shard / FACTS).exists() else {"first": 0}
    return facts["first"], int(shard.name.partition("-")[0])
