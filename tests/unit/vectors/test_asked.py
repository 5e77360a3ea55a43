"""What is asked of a shard changes none of its vectors, and every pair gets its score."""

import numpy as np
import torch

from epic.vectors.asked import Asked
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_vectors
from epic.vectors.tokenise import Spoken
from tests.one_pass import encoded
from tests.vectors import SETTINGS


def test_encoding_with_candidates_changes_no_vector(files, tmp_path):
    scored = encoded(files, 1, timed=(2, 2))
    encode_shard(files.model, "digest", Spoken(files.model.tokenizer, files.documents, "1-of-1"), SETTINGS, tmp_path / "without")
    names = [path.relative_to(tmp_path / "without") for path in (tmp_path / "without").rglob("*.*") if path.name != "header.json"]
    assert len(names) >= 4
    for name in names:
        assert (scored.shards[0] / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_unpruned_vectors_of_the_first_queries_hits_are_kept(files):
    scored = encoded(files, 2, timed=(2, 2))  # q1: 0, 3; q2: 2, 6 and 1
    assert scored.candidates.dense.tolist() == [0, 1, 2, 3, 6]
    found = dict(scored.vectors(["6", "4", "0"], files.documents))
    assert sorted(found) == [0, 2]  # the second was not kept
    for place, text in ((0, "z y x"), (2, "price of a pool")):
        (vector,) = document_vectors(files.model, files.model.pieces([text]), 5)
        assert np.array_equal(found[place], vector)


def test_no_candidates_at_all_are_no_scores(files):
    for name in ("bm25", "other", "tune"):
        (files.folder / f"{name}.run").write_text("")
    scored = encoded(files, 2)
    pairs = scored.candidates.sets["test"]
    assert pairs.count == 0 and scored.run({}, pairs, files.documents) == {}
    assert scored.run({"q1": []}, pairs, files.documents) == {"q1": []}


def test_scores_by_hand():
    """Two passages over four terms; q0 = {1: 2, 3: 0.5}, q1 has no terms."""
    vectors = torch.tensor([[0.0, 1.0, 0.0, 4.0], [1.0, 0.5, 0.25, -2.0]], dtype=torch.float16)
    shard = Asked.__new__(Asked)
    shard.rows, shard.queries = np.array([0, 1, 1]), np.array([0, 0, 1], dtype=np.uint32)
    shard.bounds, shard.terms = np.array([0, 2, 2]), np.array([1, 3], dtype=np.uint16)
    shard.weights, shard.dense = np.array([2.0, 0.5], dtype=np.float32), np.array([1])
    for score in ("_by_kernel", "_by_torch"):
        shard._by_kernel = getattr(Asked, score).__get__(shard)
        answers = shard.of(np.array([1, 0]), vectors[[1, 0]])  # a batch in another order
        assert dict(zip(answers.pairs.tolist(), answers.scores.tolist(), strict=True)) == {0: 4.0, 1: 0.0, 2: 0.0}
        assert answers.dense.tolist() == [0] and answers.vectors.tolist() == [[1.0, 0.5, 0.25, -2.0]]
