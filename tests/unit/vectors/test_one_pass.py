"""One pass: what encoding scores on the way equals what the model scores by itself, whatever the shards, devices and ids."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from epic.core.files import InputError, write_json
from epic.corpus.documents import Documents
from epic.corpus.runs import ScoredDoc, read_run, write_run
from epic.model.query_torch import query_vector
from epic.model.query_vector import write_vectors
from epic.model.weigh import weigh
from epic.rankers import epic as family
from epic.vectors.candidates import Candidates, QuerySet, write_candidates, write_passages
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_vectors
from epic.vectors.scored_pairs import Scored, opened
from epic.vectors.store import Store
from epic.vectors.tokenise import Spoken
from epic.vectors.unpruned_scores import unpruned_scores
from tests.vectors import SETTINGS

QUERIES = {"q1": "price of pool", "q2": "x", "q3": "", "ä/q4": "pools of café pools"}
RUNS = {
    "bm25": {"q1": "0342", "q2": "26", "ä/q4": "54"},  # q3 has no hits
    "other": {"q1": "03", "q2": "1"},  # the same pairs again, and the empty passage
}


@pytest.fixture
def files(model, documents, tmp_path):
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


def encoded(files, shards, passages=None, timed=(0, 0), depth=3):
    """Encode a collection in shards with its candidates; return what they left."""
    folder, model = files.folder, files.model
    write_candidates(sets(folder, timed, depth), files.documents, passages, folder / "candidates")
    candidates = Candidates(folder / "candidates")
    collection, paths = candidates.collection(files.documents), []
    for shard in range(1, shards + 1):
        paths.append(folder / "encode" / f"{shard}-of-{shards}")
        spoken = Spoken(model.tokenizer, collection, f"{shard}-of-{shards}")
        encode_shard(model, "digest", spoken, SETTINGS, paths[-1], candidates)
    return Scored(folder / "candidates", paths[::-1])  # the order in which they are named does not matter


def expected(files, run, query_set="test"):
    queries = files.vectors if query_set == "test" else {"q1": files.vectors["ä/q4"]}
    return unpruned_scores(files.model, files.documents, queries, run, token_budget=64)


def same(left, right, near=1.4e-4):
    assert left.keys() == right.keys()
    for query_id, hits in left.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in right[query_id]]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in right[query_id]], rel=near, abs=near)


@pytest.mark.parametrize("shards", [1, 3, 9])
def test_scores_are_those_of_the_model_by_itself(files, shards):
    scored = encoded(files, shards)
    for name in ("bm25", "other"):
        run = read_run(files.folder / f"{name}.run", hits=3)
        same(scored.run(run, "test", files.documents), expected(files, run))
    tuned = read_run(files.folder / "tune.run")
    same(scored.run(tuned, "tune", files.documents), expected(files, tuned, "tune"))  # its q1 is another query


def test_every_pair_is_there_once_down_to_the_depth_and_no_deeper(files):
    scored = encoded(files, 1)
    sets = [("tune", "q1"), *(("test", query) for query in QUERIES)]
    pairs = [(sets[query], row) for row, query in zip(scored.candidates.rows, scored.candidates.queries, strict=True)]
    hits = {"q1": "034", "q2": "126", "ä/q4": "45"}
    assert sorted(pairs) == sorted([(("test", query), int(row)) for query in hits for row in hits[query]] + [(("tune", "q1"), 6)])
    run = read_run(files.folder / "bm25.run")
    with pytest.raises(InputError, match="a hit of query q1 is no candidate; make the candidates again"):
        scored.run(run, "test", files.documents)


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
    same(scored.run(run, "test", files.documents), expected(files, run))


def test_unpruned_vectors_of_the_first_queries_hits_are_kept(files):
    scored = encoded(files, 2, timed=(2, 2))  # q1: 0, 3; q2: 2, 6 and 1
    assert scored.candidates.array("dense.i64").tolist() == [0, 1, 2, 3, 6]
    found = dict(scored.vectors(["6", "4", "0"], files.documents))
    assert sorted(found) == [0, 2]  # the second was not kept
    for place, text in ((0, "z y x"), (2, "price of a pool")):
        (vector,) = document_vectors(files.model, files.model.pieces([text]), 5)
        assert np.array_equal(found[place], vector)


def test_shards_that_were_asked_for_others_are_not_believed(files, caplog):
    scored = encoded(files, 2)
    folder = files.folder
    assert opened(folder / "candidates", scored.shards) and opened([], []) is None and opened(folder / "candidates", []) is None
    write_candidates(sets(folder, depth=1), files.documents, None, folder / "candidates")
    assert opened(folder / "candidates", scored.shards) is None and "has changed since passages were encoded" in caplog.text
    (scored.shards[0] / "scored.json").unlink()
    assert opened(folder / "candidates", scored.shards) is None


def test_the_family_reads_scores_where_they_are_and_runs_the_model_where_not(files, tmp_path, monkeypatch):
    scored, run = encoded(files, 2), read_run(files.folder / "bm25.run", hits=3)
    files.model.save_pretrained(tmp_path / "checkpoint")
    write_json(tmp_path / "manifest.json", {"documents": files.documents.dataset, "count": 7})
    inputs = {"checkpoint": tmp_path / "checkpoint", "manifest": tmp_path / "manifest.json", "vectors": tmp_path / "test.jsonl"}
    compute = {"device": "cpu", "threads": 1, "precision": "float32"}
    alone = family.score_run(run, SimpleNamespace(**inputs), compute, 64)
    read = family.score_run(run, SimpleNamespace(**inputs, candidates=tmp_path / "candidates", shards=scored.shards), compute, 64)
    same(read, alone)
    monkeypatch.setattr("epic.model.epic.load_model", None)  # nobody may ask for it
    assert (
        family.score_run(run, SimpleNamespace(**inputs, candidates=tmp_path / "candidates", shards=scored.shards), compute, 64)
        == read
    )


@pytest.mark.parametrize("damage", ["scores.f32", "rows.i64", "format"])
def test_damaged_scores_and_candidates_are_refused(files, damage):
    scored = encoded(files, 2)
    if damage == "scores.f32":
        path = scored.shards[0] / damage
        path.write_bytes(path.read_bytes()[:-4])
        with pytest.raises(InputError, match="8 scores of 9 pairs; encode again"):
            scored.run(read_run(files.folder / "tune.run"), "tune", files.documents)
    elif damage == "rows.i64":
        path = files.folder / "candidates" / damage
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(InputError, match=r"rows\.i64: 64 bytes, the header promises 72"):
            Candidates(files.folder / "candidates")
    else:
        (files.folder / "candidates" / "header.json").write_text("{}")
        with pytest.raises(InputError, match="not the candidates of a model"):
            Candidates(files.folder / "candidates")


def test_a_run_of_a_query_without_a_vector_is_refused(files):
    write_run(files.folder / "other.run", {"q9": [ScoredDoc("0", 1.0)]}, "other")
    with pytest.raises(InputError, match=r"other\.run: there is no vector of query q9"):
        write_candidates(sets(files.folder), files.documents, None, files.folder / "candidates")


def test_no_candidates_at_all_are_no_scores(files):
    for name in ("bm25", "other", "tune"):
        (files.folder / f"{name}.run").write_text("")
    scored = encoded(files, 2)
    assert scored.candidates.pairs == 0 and scored.run({}, "test", files.documents) == {}
    assert scored.run({"q1": []}, "test", files.documents) == {"q1": []}


def test_encoding_with_candidates_changes_no_vector(files, tmp_path):
    scored = encoded(files, 1, timed=(2, 2))
    encode_shard(files.model, "digest", Spoken(files.model.tokenizer, files.documents, "1-of-1"), SETTINGS, tmp_path / "without")
    for name in ("terms.u16", "weights.f16", "frequencies.json"):
        assert (scored.shards[0] / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_ids_with_slashes_and_other_letters_go_through(model, tmp_path):
    (tmp_path / "docs.tsv").write_text("käse/1\tprice of a pool\nd%20\tx\n", encoding="utf-8")
    documents, model = Documents(f"path:{tmp_path}"), model.float()
    vectors = weigh(partial(query_vector, model), {"ö/1": "pool x"})
    write_vectors(vectors, tmp_path / "v.jsonl")
    run = {"ö/1": [ScoredDoc("d%20", 2.0), ScoredDoc("käse/1", 1.0)]}
    write_run(tmp_path / "r.run", run, "bm25")
    write_candidates([QuerySet("s", tmp_path / "v.jsonl", [tmp_path / "r.run"], 9)], documents, None, tmp_path / "c")
    encode_shard(
        model, "digest", Spoken(model.tokenizer, documents, "1-of-1"), SETTINGS, tmp_path / "1-of-1", Candidates(tmp_path / "c")
    )
    found = Scored(tmp_path / "c", [tmp_path / "1-of-1"]).run(run, "s", documents)
    same(found, unpruned_scores(model, documents, vectors, run, token_budget=64))
