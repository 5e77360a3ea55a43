"""Candidates: every pair once, down to the depth and no deeper, and the passages among them."""

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc, read_run, write_run
from epic.vectors.candidates import encoded_collection, write_candidates, write_passages
from epic.vectors.store import Store
from tests.one_pass import QUERIES, encoded, expected, same, sets


def test_every_pair_is_there_once_down_to_the_depth_and_no_deeper(files):
    scored = encoded(files, 1)
    test, tune, names = scored.candidates.sets["test"], scored.candidates.sets["tune"], list(QUERIES)
    hits = {"q1": "034", "q2": "126", "ä/q4": "45"}
    pairs = [(names[query], row) for row, query in zip(test.rows.tolist(), test.queries, strict=True)]
    assert sorted(pairs) == sorted((query, int(row)) for query in hits for row in hits[query])
    assert test.rows.tolist() == sorted(test.rows) and tune.rows.tolist() == [6] and tune.queries.tolist() == [0]
    run = read_run(files.folder / "bm25.run")
    with pytest.raises(InputError, match="a hit of query q1 is no candidate; make the candidates again"):
        scored.run(run, scored.candidates.sets["test"], files.documents)


def test_only_candidates_are_encoded_where_no_others_are_asked_for(files):
    runs = [(files.folder / "bm25.run", 2), (files.folder / "tune.run", 9), (files.folder / "other.run", 2)]
    write_passages(runs, files.documents, files.folder / "passages.i64")
    assert np.fromfile(files.folder / "passages.i64", np.int64).tolist() == [0, 1, 2, 3, 4, 5, 6]
    write_passages(runs[1:], files.documents, files.folder / "passages.i64")
    assert np.fromfile(files.folder / "passages.i64", np.int64).tolist() == [0, 1, 3, 6]
    (files.folder / "bm25.run").write_bytes((files.folder / "other.run").read_bytes())
    scored = encoded(files, 2, passages=files.folder / "passages.i64")
    stores = [Store(path) for path in reversed(scored.shards)]
    assert sorted(doc_id for store in stores for doc_id in store.ids(slice(None))) == ["0", "1", "3", "6"]
    run = read_run(files.folder / "other.run")
    same(scored.run(run, scored.candidates.sets["test"], files.documents), expected(files, run))


def test_a_run_of_a_query_without_a_vector_is_refused(files):
    write_run(files.folder / "other.run", {"q9": [ScoredDoc("0", 1.0)]}, "other")
    with pytest.raises(InputError, match=r"other\.run: there is no vector of query q9"):
        write_candidates(sets(files.folder), files.documents, None, files.folder / "candidates")


def test_a_collection_with_an_id_twice_is_encoded_by_its_candidates_alone(collection_of, tmp_path):
    documents = collection_of("a", "b")
    assert encoded_collection(documents, None) is documents
    documents._hidden = frozenset({0})
    with pytest.raises(InputError, match="has 1 documents with the id of a later one, .* write encode.passages: candidates"):
        encoded_collection(documents, None)
    np.array([1], dtype=np.int64).tofile(tmp_path / "positions.i64")
    assert list(encoded_collection(documents, tmp_path / "positions.i64").span(range(1))) == [("1", "b")]
