"""Candidates of a model: the pairs of query and passage that its unpruned rows and the choice of its cut-offs may ask for.

Encoding sees every passage's whole vector once, so it scores these pairs on the way (`epic.vectors.asked`). Each query set has a
folder of its own: where one is added or changes, scores of the others stay good.

header.json         query sets, number of passages that are encoded
dense.i64           rows of the passages whose unpruned vectors are timed; ascending
passages.i64        positions in the collection of what is encoded, ascending; only if that is not all of it
SET/header.json     number of pairs, checksums of the files below, of the query vectors, and of passages.i64
SET/rows.i64        the passage of each pair, as a row of what is encoded; ascending
SET/queries.u32     its query, by number; ascending within a passage
SET/bounds.i64      where the vector of each query begins, and where the last ends
SET/query_terms.u16 the query vectors' terms
SET/query_weights.f32  and their weights
SET/ids.json        query ids, in the order of their numbers
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from epic.core.files import InputError, read_json, replacing, sha256_of, write_json
from epic.corpus.documents import Documents
from epic.corpus.runs import ranked_lists
from epic.model.query_vector import read_vectors

FORMAT = "epic-candidates-1"
ARRAYS = {
    "rows.i64": np.int64, "queries.u32": np.uint32,
    "bounds.i64": np.int64, "query_terms.u16": np.uint16, "query_weights.f32": np.float32,
}  # fmt: skip
PASSAGES, DENSE = "passages.i64", "dense.i64"
LOOKED_UP_AT_ONCE = 100_000


class QuerySet(NamedTuple):
    """A query set of which candidates are scored."""

    name: str
    vectors: Path  # of `weigh`
    runs: list  # of the first stages that the model re-ranks
    depth: int  # hits of each run that may be re-ranked
    timed: tuple[int, int] = (0, 0)  # queries from the first one on whose passages are timed unpruned, and hits of each


class Subset:
    """Some passages of a collection, in its order: what is encoded where only candidates are."""

    def __init__(self, documents: Documents, positions: np.ndarray):
        self.documents, self.places = documents, positions

    def __len__(self) -> int:
        return len(self.places)

    def span(self, rows: range) -> Iterator[tuple[str, str]]:
        """Yield (id, text) of the passages in some rows; neighbours in the collection are read together."""
        places = self.places[rows.start : rows.stop]  # (n,)
        cuts = np.flatnonzero(np.diff(places) != 1) + 1  # where a neighbour is missing
        for part in np.split(places, cuts) if len(places) else ():
            yield from self.documents.span(range(int(part[0]), int(part[-1]) + 1))

    def positions(self, doc_ids) -> list[int]:
        """Return the rows of passages; refuse one that is not among these."""
        doc_ids, rows = list(doc_ids), self.places_of(doc_ids)  # (k,)
        if len(rows) and rows.min() < 0:
            raise InputError(f"document {doc_ids[int(rows.argmin())]} is no candidate; encode again")
        return rows.tolist()

    def places_of(self, doc_ids) -> np.ndarray:
        """Return the rows of passages (k,), -1 for one that is not among these."""
        places = np.array(self.documents.positions(doc_ids), dtype=np.int64)  # (k,)
        rows = np.searchsorted(self.places, places)  # (k,)
        rows[np.append(self.places, -1)[rows] != places] = -1
        return rows


def encoded_collection(documents: Documents, passages) -> Documents | Subset:
    """Return what is encoded: the whole collection, or the passages at the positions in a file."""
    if passages:
        return Subset(documents, np.fromfile(passages, np.int64))
    if documents.repeated:
        said = f"{documents.dataset} has {documents.repeated} documents with the id of a later one"
        raise InputError(f"{said}, and a store has a vector for each id; write encode.passages: candidates")
    return documents


def count_of(manifest, passages) -> int:
    """Return the number of passages that are encoded."""
    return Path(passages).stat().st_size // 8 if passages else read_json(manifest)["count"]


def write_passages(runs: Iterable[tuple], documents: Documents, out) -> None:
    """Write the positions of all passages that are among the first hits of some runs, given as (run, depth)."""
    found = np.unique(
        np.concatenate([np.empty(0, np.int64), *(rows for run, depth in runs for _, rows in _hits(run, depth, documents))])
    )
    with replacing(out) as draft:
        found.tofile(draft)


def write_candidates(query_sets: list[QuerySet], documents: Documents, passages, out) -> None:
    """Write all pairs of some query sets, each once however many first stages have it."""
    collection, dense = encoded_collection(documents, passages), [np.empty(0, np.int64)]
    with replacing(out) as draft:
        draft.mkdir()
        if passages:
            collection.places.tofile(draft / PASSAGES)
        for query_set in query_sets:
            dense += _write_set(query_set, collection, draft / query_set.name)
        np.unique(np.concatenate(dense)).tofile(draft / DENSE)
        names = [query_set.name for query_set in query_sets]
        write_json(draft / "header.json", {"format": FORMAT, "passages": len(collection), "query_sets": names})


def _write_set(query_set: QuerySet, collection, folder: Path) -> list[np.ndarray]:
    """Write the pairs of one query set; return rows of the passages that are timed."""
    vectors = read_vectors(query_set.vectors)
    numbers, pairs, dense = {query_id: number for number, query_id in enumerate(vectors)}, [np.empty(0, np.int64)], []
    for run in query_set.runs:
        pairs += _pairs(run, query_set.depth, numbers, collection)
        dense += _timed(run, query_set, list(vectors), collection)
    merged = np.unique(np.concatenate(pairs))  # (P,), row and number of the query as one
    arrays = {
        "rows.i64": merged >> 32,
        "queries.u32": merged & 0xFFFFFFFF,
        "bounds.i64": np.cumsum([0, *(len(vector.terms) for vector in vectors.values())]),
        "query_terms.u16": np.concatenate([np.empty(0, np.uint16), *(vector.terms for vector in vectors.values())]),
        "query_weights.f32": np.concatenate([np.empty(0, np.float32), *(vector.weights for vector in vectors.values())]),
    }
    folder.mkdir()
    for name, dtype in ARRAYS.items():
        arrays[name].astype(dtype).tofile(folder / name)
    write_json(folder / "ids.json", list(vectors))
    sums = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    chosen = folder.parent / PASSAGES
    of_passages = sha256_of(chosen) if chosen.exists() else None
    facts = {"pairs": len(merged), "vectors": sha256_of(query_set.vectors), "passages": of_passages, "sha256": sums}
    write_json(folder / "header.json", {"format": FORMAT} | facts)
    return dense


def _hits(run, depth: int, collection) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield (query id of each hit, rows of the hits) of the first hits of a run, many at a time: a run has millions."""
    hits = ((query_id, hit.doc_id) for query_id, found in ranked_lists(run) for hit in found[:depth])
    while some := list(islice(hits, LOOKED_UP_AT_ONCE)):
        query_ids, doc_ids = zip(*some, strict=True)
        yield list(query_ids), np.array(collection.positions(doc_ids), dtype=np.int64)  # (k,)


def _pairs(run, depth: int, numbers: dict[str, int], collection) -> Iterator[np.ndarray]:
    """Yield pairs of a run as one number each, that of the row before that of the query."""
    for query_ids, rows in _hits(run, depth, collection):
        if absent := [query_id for query_id in query_ids if query_id not in numbers]:
            raise InputError(f"{run}: there is no vector of query {absent[0]}; make them again")
        yield rows << 32 | np.array([numbers[query_id] for query_id in query_ids], dtype=np.int64)  # (k,)


def _timed(run, query_set: QuerySet, order: list[str], collection) -> Iterator[np.ndarray]:
    """Yield rows of the hits of the queries that are timed."""
    count, depth = query_set.timed
    wanted = set(order[:count])
    for query_ids, rows in _hits(run, depth, collection) if wanted else ():
        yield rows[[query_id in wanted for query_id in query_ids]]  # (k,)


class Pairs:
    """The candidates of one query set, mapped; opening compares header and sizes."""

    def __init__(self, path):
        self.path = Path(path)
        header = _header(self.path, {"pairs", "vectors", "passages", "sha256"})
        self.count, self.vectors, self.digest = header["pairs"], header["vectors"], sha256_of(self.path / "header.json")
        for name, size in {"rows.i64": 8 * self.count, "queries.u32": 4 * self.count}.items():
            if (found := (self.path / name).stat().st_size) != size:
                raise InputError(f"{self.path / name}: {found} bytes, the header promises {size}; make the candidates again")

    def array(self, name: str) -> np.ndarray:
        """Return one of the arrays."""
        return _mapped(self.path / name, ARRAYS[name])

    @cached_property
    def rows(self) -> np.ndarray:
        """The passage of each pair (P,)."""
        return self.array("rows.i64")

    @cached_property
    def queries(self) -> np.ndarray:
        """The number of each pair's query (P,)."""
        return self.array("queries.u32")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each query."""
        return {query_id: number for number, query_id in enumerate(read_json(self.path / "ids.json"))}


class Candidates:
    """The candidates of a model: pairs by query set, and the rows whose unpruned vectors are timed."""

    def __init__(self, path):
        self.path = Path(path)
        header = _header(self.path, {"passages", "query_sets"})
        self.passages, self.sets = header["passages"], {name: Pairs(self.path / name) for name in header["query_sets"]}

    @cached_property
    def dense(self) -> np.ndarray:
        """Rows of the passages whose unpruned vectors are timed (D,)."""
        return _mapped(self.path / DENSE, np.int64)

    @property
    def dense_digest(self) -> str:
        """A checksum of these rows."""
        return sha256_of(self.path / DENSE)

    def pairs_of(self, vectors) -> Pairs | None:
        """Return the pairs of the query set whose query vectors are those in a file; of two, the one with more hits."""
        digest = sha256_of(vectors)
        found = [pairs for pairs in self.sets.values() if pairs.vectors == digest]
        return max(found, key=lambda pairs: pairs.count, default=None)

    def collection(self, documents: Documents) -> Documents | Subset:
        """Return what is encoded."""
        file = self.path / PASSAGES
        return encoded_collection(documents, file if file.exists() else None)


def _header(folder: Path, keys: set[str]) -> dict:
    header = read_json(folder / "header.json")
    if not isinstance(header, dict) or header.get("format") != FORMAT or not keys <= header.keys():
        raise InputError(f"{folder}: not the candidates of a model ({FORMAT}); make them again")
    return header


def _mapped(path: Path, dtype) -> np.ndarray:
    """Map an array; an empty file cannot be mapped."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.empty(0, dtype)
