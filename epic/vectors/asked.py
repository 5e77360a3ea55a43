"""What the passages of a shard are asked for while their whole vectors are at hand: scores of pairs, and vectors to be timed.

Written into the shard's folder:
scored.json        of each query set: digest of its candidates, the first of the shard's pairs and their number; of the rows
                   that are timed: their digest and number
scores/SET.f32     sim(q, d) of its pairs, in their order
dense.f16          unpruned vectors (n, V) of its passages that are timed, in their order
dense.u32          a checksum of each of them (CRC-32)
"""

from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import torch
from torch import Tensor

from epic.core.files import write_json
from epic.core.kernels import WIDE, compiled
from epic.vectors.candidates import Candidates, Pairs

FACTS, SCORES, DENSE, SUMS = "scored.json", "scores", "dense.f16", "dense.u32"
PAIRS_AT_A_TIME = 65_536  # on a card: their terms are copied there together


class Answers(NamedTuple):
    """What a batch of vectors answers, where the vectors lie."""

    pairs: np.ndarray  # (p,) of the shard
    scores: Tensor  # (p,)
    dense: np.ndarray  # (d,) of the shard's vectors that are timed
    vectors: Tensor  # (d, V)


class Asked:
    """The pairs and vectors that a shard's passages are asked for; vectors are written as they come, scores at the end."""

    def __init__(self, candidates: Candidates, start: int, count: int, folder):
        self.folder, self.dense_digest = Path(folder), candidates.dense_digest
        self.sets = [_Slice.of(name, pairs, start, count) for name, pairs in candidates.sets.items()]
        firsts = np.cumsum([0, *(part.queries_in_set for part in self.sets)])  # numbers of each set's first query
        rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in self.sets)])  # (P,), set by set
        self.order = np.argsort(rows, kind="stable")  # (P,), passage by passage
        self.rows = rows[self.order]  # (P,)
        numbers = [part.queries + first for part, first in zip(self.sets, firsts.tolist(), strict=False)]
        self.queries = np.concatenate([np.empty(0, np.int64), *numbers])[self.order]  # (P,)
        self.bounds, self.terms, self.weights = _joined(candidates)
        dense = candidates.dense  # (D,)
        self.dense = dense[slice(*np.searchsorted(dense, [start, start + count]))] - start  # (d,)
        self.scores = np.full(len(rows), np.nan, dtype=np.float32)  # (P,), set by set
        self._vectors = open(self.folder / DENSE, "wb")  # noqa: SIM115 - close() does
        self._sums, self._written = np.zeros(len(self.dense), dtype=np.uint32), 0  # (d,)

    def of(self, rows: np.ndarray, vectors: Tensor) -> Answers:
        """Answer for the passages in some rows (b,) of the shard, whose vectors are (b, V). Nothing is kept here yet."""
        pairs, places = _within(self.rows, rows)  # (p,), (p,)
        dense, timed = _within(self.dense, rows)  # (d,), (d,)
        score = self._by_kernel if vectors.device.type == "cpu" else self._by_torch
        chosen = vectors[:0] if not len(dense) else vectors[torch.from_numpy(timed).to(vectors.device)]  # (d, V)
        return Answers(pairs, score(vectors, places, self.queries[pairs]), dense, chosen)

    def _by_kernel(self, vectors: Tensor, places: np.ndarray, queries: np.ndarray) -> Tensor:
        scores = np.empty(len(places), dtype=np.float32)  # (p,)
        bits = vectors.numpy().view(np.uint16)  # (b, V)
        _pair_dots(bits, places, queries, self.bounds, self.terms, self.weights, WIDE, scores)
        return torch.from_numpy(scores)

    def _by_torch(self, vectors: Tensor, places: np.ndarray, queries: np.ndarray) -> Tensor:
        """Score pairs where the vectors lie: all terms of some pairs in one step, short queries padded with weights of zero."""
        found = []
        for start in range(0, len(places), PAIRS_AT_A_TIME):
            some = slice(start, start + PAIRS_AT_A_TIME)
            begins, ends = self.bounds[queries[some]], self.bounds[queries[some] + 1]  # (p,) each
            grid = begins[:, None] + np.arange(max(1, (ends - begins).max()))  # (p, T)
            real = grid < ends[:, None]  # (p, T)
            grid = np.where(real, grid, 0)  # (p, T)
            terms = np.where(real, self.terms[grid], 0) if len(self.terms) else grid  # (p, T)
            weights = np.where(real, self.weights[grid], 0).astype(np.float32) if len(self.terms) else real.astype(np.float32)
            index = places[some][:, None] * vectors.shape[1] + terms  # (p, T)
            values = vectors.take(torch.from_numpy(index).to(vectors.device)).float()  # (p, T)
            found.append((values * torch.from_numpy(weights).to(vectors.device)).sum(dim=1))  # (p,)
        return torch.cat(found) if found else torch.empty(0)  # (p,)

    def keep(self, answers: Answers) -> None:
        """Keep what a batch answered."""
        self.scores[self.order[answers.pairs]] = answers.scores.cpu().numpy()
        vectors = answers.vectors.cpu().numpy() if len(answers.dense) else ()
        for place, vector in zip(answers.dense.tolist(), vectors, strict=True):
            self._vectors.seek(place * vector.nbytes)
            self._vectors.write(vector)
            self._sums[place] = crc32(vector)
        self._written += len(answers.dense)

    def close(self) -> list[str]:
        """Write the scores, and return the names of all files; every pair and every vector must be there."""
        self._vectors.close()
        if np.isnan(self.scores).any() or self._written != len(self.dense):
            raise RuntimeError(
                f"{int(np.isnan(self.scores).sum())} pairs and {len(self.dense) - self._written} vectors are missing"
            )
        (self.folder / SCORES).mkdir()
        facts, begin = {}, 0
        for part in self.sets:
            self.scores[begin : begin + len(part.rows)].tofile(self.folder / SCORES / f"{part.name}.f32")
            facts[part.name] = {"candidates": part.digest, "first": part.first, "pairs": len(part.rows)}
            begin += len(part.rows)
        self._sums.tofile(self.folder / SUMS)
        dense = {"rows": self.dense_digest, "vectors": len(self.dense)}
        write_json(self.folder / FACTS, {"query_sets": facts, "dense": dense})
        return [FACTS, DENSE, SUMS, *(f"{SCORES}/{part.name}.f32" for part in self.sets)]


class _Slice(NamedTuple):
    """The pairs of one query set that a shard has."""

    name: str
    digest: str
    first: int  # of these pairs among all of the set
    rows: np.ndarray  # (p,) of the shard
    queries: np.ndarray  # (p,)
    queries_in_set: int

    @classmethod
    def of(cls, name: str, pairs: Pairs, start: int, count: int) -> "_Slice":
        first, last = np.searchsorted(pairs.rows, [start, start + count]).tolist()
        queries = pairs.queries[first:last].astype(np.int64)  # (p,)
        return cls(name, pairs.digest, first, pairs.rows[first:last] - start, queries, len(pairs.array("bounds.i64")) - 1)


def _joined(candidates: Candidates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the vectors of all queries of all sets, one behind the other: bounds, terms, weights."""
    names, sets = ("bounds.i64", "query_terms.u16", "query_weights.f32"), candidates.sets.values()
    bounds, terms, weights = ([pairs.array(name) for pairs in sets] for name in names)
    firsts = np.cumsum([0, *map(len, terms)])  # (S+1,)
    whole = [part[:-1] + first for part, first in zip(bounds, firsts.tolist(), strict=False)]
    return np.concatenate([*whole, firsts[-1:]]), np.concatenate(terms), np.concatenate(weights)


def _within(wanted: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places in `wanted`, ascending rows, of all entries that are among `rows`, and the place in `rows` of each."""
    begins, ends = (np.searchsorted(wanted, rows, side) for side in ("left", "right"))  # (b,) each
    counts = ends - begins  # (b,)
    places = np.repeat(np.arange(len(rows)), counts)  # (p,)
    return np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts), places


@compiled
def _pair_dots(bits, places, queries, bounds, terms, weights, wide, out):  # pragma: no cover - compiled
    """Set out to sim(q, d) of pairs: float32 sums in the order of the query's terms, as in `epic.vectors.pruned_scores`."""
    for pair in range(len(places)):
        total = np.float32(0)
        for position in range(bounds[queries[pair]], bounds[queries[pair] + 1]):
            total += weights[position] * wide[bits[places[pair], terms[position]]]
        out[pair] = total
