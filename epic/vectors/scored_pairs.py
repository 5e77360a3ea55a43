"""Scores and unpruned vectors that encoding left beside its shards, as later stages read them."""

import logging
from pathlib import Path

import numpy as np

from epic.core.files import InputError, read_json
from epic.corpus.documents import Documents
from epic.corpus.runs import Run, ScoredDoc
from epic.vectors.candidates import Candidates, Pairs

log = logging.getLogger(__name__)
FACTS, SCORES, DENSE = "scored.json", "scores", "dense.f16"  # as epic.vectors.asked writes them


class Scored:
    """The answers of all shards of a model to its candidates."""

    def __init__(self, candidates, shards):
        self.candidates = Candidates(candidates)
        self.shards = sorted(map(Path, shards), key=lambda shard: int(shard.name.partition("-")[0]))
        self.facts = [read_json(shard / FACTS) if (shard / FACTS).exists() else {} for shard in self.shards]

    def pairs_of(self, vectors) -> Pairs | None:
        """Return the candidates of the query set with these query vectors, if all shards were asked for these very ones: they
        may have been encoded before the set was added, or changed."""
        pairs = self.candidates.pairs_of(vectors)
        if pairs is None:
            return None
        asked = [facts.get("query_sets", {}).get(pairs.path.name, {}).get("candidates") for facts in self.facts]
        if set(asked) == {pairs.digest}:
            return pairs
        log.warning("%s: the candidates were not scored when passages were encoded, so the model scores them now", pairs.path)
        return None

    def scores(self, pairs: Pairs) -> np.ndarray:
        """Return the score of every pair of a query set (P,)."""
        found = [np.fromfile(shard / SCORES / f"{pairs.path.name}.f32", np.float32) for shard in self.shards]
        whole = np.concatenate([np.empty(0, np.float32), *found])  # (P,)
        if len(whole) != pairs.count:
            raise InputError(f"{self.shards[0].parent}: {len(whole)} scores of {pairs.count} pairs; encode again")
        return whole

    def run(self, first: Run, pairs: Pairs, documents: Documents) -> Run:
        """Return a run with sim(q, d) of unpruned vectors in place of its scores, in the same order."""
        collection = self.candidates.collection(documents)
        keys = pairs.queries.astype(np.int64) << 32 | pairs.rows  # (P,)
        order = np.argsort(keys)  # (P,)
        keys, scores = keys[order], self.scores(pairs)[order]  # (P,) each
        found = {}
        for query_id, hits in first.items():
            rows = np.array(collection.positions([hit.doc_id for hit in hits]), dtype=np.int64)  # (k,)
            wanted = pairs.numbers[query_id] << 32 | rows  # (k,)
            places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))  # (k,)
            if len(wanted) and (not len(keys) or (keys[places] != wanted).any()):
                raise InputError(f"{pairs.path}: a hit of query {query_id} is no candidate; make the candidates again")
            values = scores[places].tolist() if len(wanted) else []
            found[query_id] = [ScoredDoc(hit.doc_id, value) for hit, value in zip(hits, values, strict=True)]
        return found

    def vectors(self, doc_ids: list[str], documents: Documents):
        """Yield (place in `doc_ids`, unpruned vector (V,)) of the documents whose vectors were kept."""
        if {facts.get("dense", {}).get("rows") for facts in self.facts} != {self.candidates.dense_digest}:
            return
        dense = self.candidates.dense  # (D,)
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
    """Open what encoding scored, where a job has `candidates` and `scored` shards among its files; None if it has not."""
    candidates, shards = (getattr(files, name, None) for name in ("candidates", "scored"))
    return Scored(candidates, shards) if candidates and shards else None
