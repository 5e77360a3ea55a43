"""One pass over a small collection: runs, query vectors, candidates and encoded shards for tests."""

from functools import partial
from types import SimpleNamespace

import pytest

from epic.corpus.runs import ScoredDoc, ranked, write_run
from epic.model.query_torch import query_vector
from epic.model.query_vector import write_vectors
from epic.model.weigh import weigh
from epic.vectors.candidates import Candidates, QuerySet, write_candidates
from epic.vectors.encode import encode_shard
from epic.vectors.scored_pairs import Scored
from epic.vectors.tokenise import Spoken
from epic.vectors.unpruned_scores import unpruned_scores
from tests.vectors import SETTINGS

QUERIES = {"q1": "price of pool", "q2": "x", "q3": "", "ä/q4": "pools of café pools"}
RUNS = {
    "bm25": {"q1": "0342", "q2": "26", "ä/q4": "54"},  # q3 has no hits
    "other": {"q1": "03", "q2": "1"},  # the same pairs again, and the empty passage
}


def files_of(model, documents, tmp_path):
    """Runs of two first stages, and the query vectors of two query sets that share an id."""
    model.float()
    for stage, hits in RUNS.items():
        run = {query: [ScoredDoc(doc, 9.0 - place) for place, doc in enumerate(docs)] for query, docs in hits.items()}
        write_run(tmp_path / f"{stage}.run", run, stage)
    vectors = weigh(partial(query_vector, model), QUERIES)
    write_vectors(vectors, tmp_path / "test.jsonl")
    write_vectors({"q1": vectors["ä/q4"]}, tmp_path / "tune.jsonl")
    write_run(tmp_path / "tune.run", {"q1": [ScoredDoc("6", 1.0)]}, "bm25")
    return SimpleNamespace(model=model, vectors=vectors, documents=documents, folder=tmp_path)


def sets(folder, timed=(0, 0), depth=3):
    runs = [folder / "bm25.run", folder / "other.run"]
    return [
        QuerySet("tune", folder / "tune.jsonl", [folder / "tune.run"], 9),
        QuerySet("test", folder / "test.jsonl", runs, depth, timed),
    ]


def encoded(files, shards, passages=None, timed=(0, 0), depth=3, digest="digest"):
    """Encode a collection in shards with its candidates; return what they left."""
    folder, model = files.folder, files.model
    write_candidates(sets(folder, timed, depth), files.documents, passages, folder / "candidates")
    candidates = Candidates(folder / "candidates")
    collection, paths = candidates.collection(files.documents), []
    for shard in range(1, shards + 1):
        paths.append(folder / "encode" / f"{shard}-of-{shards}")
        spoken = Spoken(model.tokenizer, collection, f"{shard}-of-{shards}")
        encode_shard(model, digest, spoken, SETTINGS, paths[-1], candidates)
    return Scored(folder / "candidates", paths[::-1])  # the order in which they are named does not matter


def expected(files, run, query_set="test"):
    queries = files.vectors if query_set == "test" else {"q1": files.vectors["ä/q4"]}
    return unpruned_scores(files.model, files.documents, queries, run, token_budget=64)


def same(left, right, near=1.4e-4):
    assert left.keys() == right.keys()
    for query_id, hits in left.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in right[query_id]]  # as they were asked for
        assert [hit.doc_id for hit in ranked(hits)] == [hit.doc_id for hit in ranked(right[query_id])]  # as they are ranked
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in right[query_id]], rel=near, abs=near)
