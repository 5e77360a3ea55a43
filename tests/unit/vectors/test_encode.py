"""Encoding: shards tile the collection, and vectors depend on nothing but the passage."""

import os
import signal
from functools import partial

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.experiment.settings import EncodeSettings
from epic.model.query_torch import query_vector
from epic.model.weigh import weigh
from epic.vectors.encode import encode_shard
from epic.vectors.store import Store
from epic.vectors.unpruned_scores import unpruned_scores
from tests.processes import call
from tests.vectors import SETTINGS, encoded, one_step, spoken


def test_as_many_vectors_as_documents_in_document_order(model, documents, tmp_path):
    stores = [Store(path) for path in encoded(model.float(), documents, tmp_path, 3)]
    assert [len(store) for store in stores] == [2, 2, 3]
    assert [store.start for store in stores] == [0, 2, 4]
    assert not stores[0].weights[1].any()  # the empty passage


def test_vectors_do_not_depend_on_batches_blocks_or_shards(model, documents, tmp_path):
    model, whole = model.float(), []
    for name, shards, settings in (("a", 1, SETTINGS), ("b", 4, EncodeSettings(1000, 512, 1000))):
        (tmp_path / name).mkdir()
        paths = encoded(model, documents, tmp_path / name, shards, settings)
        whole.append(np.concatenate([Store(path).weights for path in paths]))
    assert one_step(*whole)


def test_selection_does_not_depend_on_batches_blocks_shards_or_threads(model, documents, tmp_path):
    """Sorted weights differ by at most one float16 step, and terms only within one step of the r-th weight."""
    import torch

    model, before, found = model.float(), torch.get_num_threads(), []
    for name, shards, threads, settings in (("a", 1, 1, EncodeSettings(9, 64, 5)), ("b", 3, 2, EncodeSettings(9, 512, 1000))):
        (tmp_path / name).mkdir()
        torch.set_num_threads(threads)
        try:
            stores = [Store(path) for path in encoded(model, documents, tmp_path / name, shards, settings)]
        finally:
            torch.set_num_threads(before)
        found.append([np.concatenate([getattr(store, part) for store in stores]) for part in ("terms", "weights")])
    for left_terms, left, right_terms, right in zip(*found[0], *found[1], strict=True):
        assert one_step(np.sort(left), np.sort(right))
        odd = np.concatenate([left[~np.isin(left_terms, right_terms)], right[~np.isin(right_terms, left_terms)]])
        assert (abs(odd.astype(np.float64) - left.min()) <= np.spacing(left.min())).all()
        assert (np.diff(left_terms.astype(int)) > 0).all() and (np.diff(right_terms.astype(int)) > 0).all()


@pytest.mark.gpu
@pytest.mark.skipif("not __import__('torch').cuda.is_available()", reason="needs a GPU")
@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float16"])
def test_a_gpu_gives_the_same_vectors(model, documents, tmp_path, precision):
    from epic.model.device import PRECISIONS, prepare, round_products

    model = model.float()
    expected = Store(encoded(model, documents, tmp_path, 1)[0]).weights
    model.to(prepare("cuda", 1, precision)).precision = PRECISIONS[precision]
    try:
        encode_shard(model, "digest", spoken(model, documents), SETTINGS, tmp_path / "gpu")
    finally:
        round_products(False)
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if precision == "float32" else {"rtol": 0.1, "atol": 0.05}
    assert np.allclose(Store(tmp_path / "gpu").weights, expected, **tolerance)


def encode_until(victim, encoder, out):
    """Five passages encoded two at a time, in a process that ends without warning when the victim's text is read."""
    import epic.vectors.encode
    from epic.model.epic import EpicModel

    class Texts:
        def __len__(self):
            return 5

        def span(self, positions):
            for place in positions:
                if place == victim:
                    os.kill(os.getpid(), signal.SIGKILL)
                yield str(place), "abcde"[place]

    epic.vectors.encode.ON_CPU = 2
    model = EpicModel.from_encoder(encoder, "paper", seed=7).eval()
    encode_shard(model, "digest", spoken(model, Texts()), EncodeSettings(9, 512, 100), out)


def test_a_killed_shard_leaves_nothing_that_counts_and_is_made_anew(mlm_encoder, tmp_path):
    def run(victim, out):
        return call(encode_until, victim, mlm_encoder, out).returncode

    assert run(4, tmp_path / "a" / "shard") == -signal.SIGKILL  # two times two passages were written by then
    assert [path.suffix for path in (tmp_path / "a").iterdir()] == [".part"]
    assert run(99, tmp_path / "a" / "shard") == 0 and run(99, tmp_path / "b" / "shard") == 0
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["shard"]
    for path in (tmp_path / "b" / "shard").iterdir():
        assert (tmp_path / "a" / "shard" / path.name).read_bytes() == path.read_bytes()
    Store(tmp_path / "a" / "shard").verify()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_not_finite_in_float16_are_refused_with_the_document(paper_model, documents, tmp_path, value):
    import torch

    model = paper_model.float()
    with torch.no_grad():
        model.equations.Theta2[7].fill_(value)
    with pytest.raises(InputError, match=r"document \d has a weight that is not finite"):
        encoded(model, documents, tmp_path, 1)
    assert not (tmp_path / "1-of-1").exists()
    queries = weigh(partial(query_vector, model), {"q": model.tokenizer.id_to_token(7)})
    with pytest.raises(InputError, match="document 0 has a weight that is not finite"):
        unpruned_scores(model, documents, queries, {"q": [ScoredDoc("0", 1.0)]}, token_budget=64)


def test_more_passages_than_are_sorted_at_a_time_stay_in_order(paper_model, documents, tmp_path, monkeypatch):
    import epic.vectors.encode

    model = paper_model.float()
    expected = Store(encoded(model, documents, tmp_path, 1)[0])
    monkeypatch.setattr(epic.vectors.encode, "ON_CPU", 2)
    encode_shard(model, "digest", spoken(model, documents), SETTINGS, tmp_path / "small")
    found = Store(tmp_path / "small")
    assert len(found) == 7 and one_step(found.weights, expected.weights)
