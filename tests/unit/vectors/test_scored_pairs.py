"""What encoding scored on the way equals what the model scores by itself, whatever the shards and ids."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from epic.core.files import InputError, write_json
from epic.corpus.documents import Documents
from epic.corpus.runs import ScoredDoc, read_run, write_run
from epic.model.checkpoint import model_digest
from epic.model.query_torch import query_vector
from epic.model.query_vector import write_vectors
from epic.model.weigh import weigh
from epic.rankers import epic as family
from epic.vectors.candidates import Candidates, QuerySet, write_candidates
from epic.vectors.encode import encode_shard
from epic.vectors.scored_pairs import Scored, opened
from epic.vectors.tokenise import Spoken
from epic.vectors.unpruned_scores import unpruned_scores
from tests.one_pass import encoded, expected, same, sets
from tests.vectors import SETTINGS


@pytest.mark.parametrize("shards", [1, 3, 9])
def test_scores_are_those_of_the_model_by_itself(files, shards):
    scored = encoded(files, shards)
    for name in ("bm25", "other"):
        run = read_run(files.folder / f"{name}.run", hits=3)
        same(scored.run(run, scored.candidates.sets["test"], files.documents), expected(files, run))
    tuned = read_run(files.folder / "tune.run")
    same(
        scored.run(tuned, scored.candidates.sets["tune"], files.documents), expected(files, tuned, "tune")
    )  # its q1 is another query


def test_shards_that_were_asked_for_others_are_not_believed_but_for_the_query_sets_that_are_as_they_were(files, caplog):
    scored, folder = encoded(files, 2, timed=(2, 2)), files.folder
    found = {"candidates": folder / "candidates", "scored": scored.shards}
    assert opened(SimpleNamespace()) is None and opened(SimpleNamespace(candidates=[], scored=[])) is None
    assert opened(SimpleNamespace(**found)).pairs_of(folder / "test.jsonl").path.name == "test"
    write_candidates(sets(folder, depth=1, timed=(2, 2)), files.documents, None, folder / "candidates")
    changed = opened(SimpleNamespace(**found))
    assert changed.pairs_of(folder / "test.jsonl") is None and "so the model scores them now" in caplog.text
    assert dict(changed.vectors(["0"], files.documents))  # the same passages are timed
    tuned = read_run(folder / "tune.run")
    same(changed.run(tuned, changed.pairs_of(folder / "tune.jsonl"), files.documents), expected(files, tuned, "tune"))
    write_candidates(sets(folder, timed=(1, 1)), files.documents, None, folder / "candidates")
    assert not dict(opened(SimpleNamespace(**found)).vectors(["0"], files.documents))  # others are timed
    write_vectors(files.vectors | {"q1": files.vectors["q2"]}, folder / "test.jsonl")  # of another model, say
    assert opened(SimpleNamespace(**found)).pairs_of(folder / "test.jsonl") is None
    (scored.shards[0] / "scored.json").unlink()
    assert opened(SimpleNamespace(**found)).pairs_of(folder / "tune.jsonl") is None


def test_the_family_reads_scores_where_they_are_and_runs_the_model_where_not(files, tmp_path, monkeypatch):
    files.model.save_pretrained(tmp_path / "checkpoint")
    scored, run = encoded(files, 2, digest=model_digest(tmp_path / "checkpoint")), read_run(files.folder / "bm25.run", hits=3)
    write_json(tmp_path / "manifest.json", {"documents": files.documents.dataset, "count": 7})
    inputs = {"checkpoint": tmp_path / "checkpoint", "manifest": tmp_path / "manifest.json", "vectors": tmp_path / "test.jsonl"}
    compute = {"device": "cpu", "threads": 1, "precision": "float32"}
    alone = family.score_run(run, SimpleNamespace(**inputs), compute, 64)
    read = family.score_run(run, SimpleNamespace(**inputs, candidates=tmp_path / "candidates", scored=scored.shards), compute, 64)
    same(read, alone)
    monkeypatch.setattr("epic.model.epic.load_model", None)  # nobody may ask for it
    assert (
        family.score_run(run, SimpleNamespace(**inputs, candidates=tmp_path / "candidates", scored=scored.shards), compute, 64)
        == read
    )


def test_vectors_and_scores_of_another_model_or_that_have_changed_are_refused(files):
    scored = encoded(files, 1, timed=(2, 2))
    with pytest.raises(InputError, match=r"1-of-1 was made by the model digest, not another"):
        scored.refuse_another_model("another")
    held = np.memmap(scored.shards[0] / "dense.f16", np.float16, "r+")
    held[3] += 1
    held.flush()
    with pytest.raises(InputError, match=r"dense\.f16: the vector of document 0 is not the one that was written"):
        dict(scored.vectors(["0"], files.documents))


@pytest.mark.parametrize("damage", ["scores", "rows.i64", "format"])
def test_damaged_scores_and_candidates_are_refused(files, damage):
    scored = encoded(files, 2)
    if damage == "scores":
        path = scored.shards[0] / "scores/test.f32"
        path.write_bytes(path.read_bytes()[:-4])
        with pytest.raises(InputError, match="7 scores of 8 pairs; encode again"):
            scored.run(read_run(files.folder / "bm25.run", 3), scored.candidates.sets["test"], files.documents)
    elif damage == "rows.i64":
        path = files.folder / "candidates" / "test" / damage
        path.write_bytes(path.read_bytes()[:-8])
        with pytest.raises(InputError, match=r"rows\.i64: 56 bytes, the header promises 64"):
            Candidates(files.folder / "candidates")
    else:
        (files.folder / "candidates" / "header.json").write_text("{}")
        with pytest.raises(InputError, match="not the candidates of a model"):
            Candidates(files.folder / "candidates")


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
    scored = Scored(tmp_path / "c", [tmp_path / "1-of-1"])
    found = scored.run(run, scored.pairs_of(tmp_path / "v.jsonl"), documents)
    same(found, unpruned_scores(model, documents, vectors, run, token_budget=64))
