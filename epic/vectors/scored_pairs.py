"""Scores and unpruned vectors that encoding left beside its shards, as later stages read them."""

import logging
from pathlib import Path
from zlib import crc32

import numpy as np

from epic.core import seals
from epic.core.discarded import refuse_discarded
from epic.core.files import InputError, read_json
from epic.corpus.documents import Documents
from epic.corpus.runs import Run, ScoredDoc
from epic.vectors.candidates import Candidates, Pairs

log = logging.getLogger(__name__)
FACTS, SCORES, DENSE, SUMS = "scored.json", "scores", "dense.f16", "dense.u32"  # epic.vectors.asked writes them; it needs torch


class Scored:
    """The answers of all shards of a model to its candidates."""

    def __init__(self, candidates, shards):
        self.candidates = Candidates(candidates)
        self.shards = sorted(map(Path, shards), key=lambda shard: int(shard.name.partition("-")[0]))
        self.facts = [read_json(shard / FACTS) if (shard / FACTS).exists() else {} for shard in self.shards]

    def refuse_another_model(self, digest: str) -> None:
        """Refuse shards that were made by another model."""
        for shard in self.shards:
            if (found := read_json(shard / "header.json")["model"]) != digest:
                raise InputError(f"{shard} was made by the model {found[:12]}, not {digest[:12]}; {seals.again(shard)}")

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
        rows = self.candidates.collection(documents).places_of(doc_ids)  # (n,), -1 for what is not encoded
        places = np.searchsorted(dense, rows)  # (n,)
        kept = np.flatnonzero(np.append(dense, -2)[places] == rows)  # (m,)
        wanted = dict(zip(places[kept].tolist(), kept.tolist(), strict=True))  # place among all that were kept -> in `doc_ids`
        begin = 0
        for shard in self.shards:
            refuse_discarded(shard)
            vocabulary, sums = read_json(shard / "header.json")["vocabulary"], np.fromfile(shard / SUMS, np.uint32)  # (d,)
            held = np.memmap(shard / DENSE, np.float16, "r", shape=(len(sums), vocabulary)) if len(sums) else ()
            for row in sorted(wanted.keys() & range(begin, begin + len(sums))):
                vector = np.array(held[row - begin])  # (V,)
                if crc32(vector) != sums[row - begin]:
                    seals.refuse(shard)
                    raise InputError(
                        f"{shard / DENSE}: the vector of document {doc_ids[wanted[row]]} is not the one that was written; "
                        + seals.again(shard)
                    )
                yield wanted[row], vector
            begin += len(sums)


def opened(files) -> Scored | None:
    """Open what encoding scored, where a job has `candidates` and `scored` shards among its files; None if it has not."""
    candidates, shards = (getattr(files, name, None) for name in ("candidates", "scored"))
    return Scored(candidates, shards) if candidates and shards else None
