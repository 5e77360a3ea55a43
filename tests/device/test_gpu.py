"""What a real graphics card must do, by the code of jobs; the same tests run on the stand-in, so that they are right themselves.

`pytest -m gpu` runs those that need a card.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from epic.corpus.runs import ScoredDoc
from epic.model.checkpoint import model_digest
from epic.model.device import prepare, round_products
from epic.model.epic import EpicModel, load_model
from epic.model.query_torch import query_vector
from epic.model.weigh import query_encoder, query_vectors
from epic.vectors.encode import encode_shard
from epic.vectors.store import Store
from epic.vectors.unpruned_scores import unpruned_scores
from tests.device.card import ON, inserted
from tests.device.test_query import CPU, NEAR, QUERIES
from tests.device.test_training import CutOffError, Interrupted, learned, same
from tests.vectors import SETTINGS, spoken

RUN = {"q": [ScoredDoc(str(place), 1.0) for place in range(7)], "r": [ScoredDoc("1", 2.0), ScoredDoc("3", 1.0)]}


@pytest.fixture(params=["stand-in", pytest.param("cuda", marks=pytest.mark.gpu)])
def place(request, monkeypatch):
    """The name of a device that is no CPU, as the settings of a job say it."""
    if request.param == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("needs a GPU")
        yield "cuda"
    else:
        monkeypatch.setattr("epic.model.device._has_tf32", lambda device: device == ON)
        with inserted():
            yield ON
    round_products(False)


@pytest.fixture(params=["float32", "tf32", "float16", "bfloat16"])
def job(request, place):
    """Settings of a job there."""
    return {"device": place, "threads": 1, "precision": request.param}


def near(job):
    """Tolerances of values that were rounded to float16."""
    tolerance = max(1e-3, 2 * NEAR[job["precision"]])
    return {"rtol": tolerance, "atol": tolerance}


def test_a_shard_has_the_vectors_of_the_cpu(checkpoint, documents, tmp_path, job):
    for name, compute in (("cpu", CPU), ("card", job)):
        model = load_model(checkpoint, compute)
        encode_shard(model, model_digest(checkpoint), spoken(model, documents), SETTINGS, tmp_path / name)
    found, expected = Store(tmp_path / "card"), Store(tmp_path / "cpu")
    assert np.array_equal(found.terms, expected.terms)  # all of them are kept
    assert np.allclose(found.weights.astype(float), expected.weights, **near(job))


def test_a_run_has_the_scores_of_the_cpu_in_the_same_order(checkpoint, documents, job):
    queries, scores = query_vectors(checkpoint, CPU, QUERIES), []
    for compute in (CPU, job):
        scored = unpruned_scores(load_model(checkpoint, compute), documents, queries, RUN, 64)
        scores.append([[hit.score for hit in scored[query_id]] for query_id in RUN])
    for expected, found in zip(*scores, strict=True):
        assert np.allclose(found, expected, **near(job))
        if job["precision"] == "float32":
            assert np.argsort(found, kind="stable").tolist() == np.argsort(expected, kind="stable").tolist()


def test_a_query_in_a_thread_has_the_vector_of_the_cpu(checkpoint, job):
    on_cpu, encode = load_model(checkpoint, CPU), query_encoder(checkpoint, job)
    with ThreadPoolExecutor(1) as pool:
        for text in QUERIES.values():
            expected, found = query_vector(on_cpu, text), pool.submit(encode, text).result()
            assert np.array_equal(found.terms, expected.terms) and np.array_equal(found.weights, encode(text).weights)
            assert np.allclose(found.weights, expected.weights, **near(job))


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_training_that_was_cut_off_ends_with_the_same_bits(
    mlm_encoder, formulation, examples, validation, tmp_path, place, precision
):
    examples, changes = examples(), {"precision": precision, "device": str(torch.empty(0).to(prepare(place, 1)).device)}
    whole = learned(mlm_encoder, formulation, examples, validation, tmp_path / "whole", **changes)
    with pytest.raises(CutOffError):
        learned(mlm_encoder, formulation, examples, validation, tmp_path / "cut", Interrupted, **changes)
    weights, history = learned(mlm_encoder, formulation, examples, validation, tmp_path / "cut", **changes)
    assert len(history) == 3 and history == whole[1] and same(weights, whole[0])


def test_a_checkpoint_comes_back_on_the_card_as_it_was(checkpoint, place):
    on_cpu = EpicModel.from_pretrained(checkpoint).state_dict()
    there = EpicModel.from_pretrained(checkpoint, prepare(place, 1)).state_dict()
    assert same(on_cpu, {name: weight.cpu() for name, weight in there.items()})
