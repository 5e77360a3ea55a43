"""EPIC from Python: plain arrays, the same numbers as the workflow's, and a fast import."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import epic
from epic.core.files import InputError
from epic.model.query_torch import query_vector
from epic.vectors.phi import document_vectors
from epic.vectors.topk import top_terms
from tests.conftest import ROOT

PASSAGES = ["price of a pool", "", "a b a café", " ".join("abcdefghijklmnopqrstuvwxyz" * 24)]


@pytest.fixture
def ready(model, tmp_path):
    model.float().save_pretrained(tmp_path / "checkpoint")
    return epic.Epic.from_pretrained(tmp_path / "checkpoint")


def test_importing_the_package_does_not_import_torch():
    code = "import sys, epic; assert 'torch' not in sys.modules; from epic import Epic; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    with pytest.raises(AttributeError, match="has no attribute 'Epik'"):
        epic.Epik  # noqa: B018


def test_a_query_is_arrays_or_words(ready):
    terms, weights = ready.encode_query("a pool a")
    assert terms.dtype == np.uint16 and weights.dtype == np.float32 and (weights > 0).all()
    assert terms.tolist() == sorted(ready.tokenizer.token_to_id(word) for word in ("a", "pool"))
    words = ready.encode_query("a pool a", words=True)
    assert words == {
        ready.tokenizer.id_to_token(term): pytest.approx(weight) for term, weight in zip(terms, weights, strict=True)
    }
    assert list(words.values()) == sorted(words.values(), reverse=True)
    assert ready.encode_query("", words=True) == {}


def test_passages_are_dense_or_pruned_or_words(ready):
    dense = ready.encode_passages(PASSAGES)
    assert dense.shape == (4, ready.vocabulary) and dense.dtype == np.float16 and not dense[1].any()
    for row, passage in enumerate(PASSAGES):  # the same as one at a time, within a float16 step
        assert np.allclose(dense[row], document_vectors(ready, ready.pieces([passage]), 1000)[0], rtol=2e-3, atol=1e-6)
    terms, weights = ready.encode_passages(PASSAGES, keep=5)
    assert terms.shape == weights.shape == (4, 5)
    assert terms[0].tolist() == top_terms(dense[:1], 5)[0].tolist() and weights[0].tolist() == dense[0, terms[0]].tolist()
    words = ready.encode_passages(PASSAGES, keep=5, words=True)
    assert words[0] == {
        ready.tokenizer.id_to_token(term): weight for term, weight in zip(terms[0], weights[0].tolist(), strict=True)
    }
    assert [len(found) for found in ready.encode_passages(["a"], words=True)] == [ready.vocabulary]
    with pytest.raises(InputError, match="keep is 0"):
        ready.encode_passages(["a"], keep=0)
    assert ready.encode_passages([]).shape == (0, ready.vocabulary)
    assert ready.encode_passages([], keep=5).terms.shape == (0, 5)


def test_scores_are_the_dot_product_of_both_vectors(ready):
    query, dense = query_vector(ready, "a pool"), ready.encode_passages(PASSAGES)
    expected = dense[:, query.terms].astype(np.float32) @ query.weights
    found = ready.score("a pool", PASSAGES)
    assert found.dtype == np.float32 and found.shape == (4,)
    assert found.tolist() == pytest.approx(expected.tolist(), rel=2e-3, abs=1e-6)
    assert ready.score("", PASSAGES).tolist() == [0.0] * 4
    assert ready.score("a", []).shape == (0,)


def test_the_api_uses_the_graph_until_the_weights_are_others(checkpoint, monkeypatch):
    import copy
    import pickle

    from epic import api

    model = api.Epic.from_pretrained(checkpoint)
    asked = []
    monkeypatch.setattr(api, "query_vector", lambda model, text: asked.append(text) or query_vector(model, text))
    before = model.encode_query("cost of a pool")
    assert asked == [] and model.graph is not None
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), api.Epic.from_pretrained(checkpoint).double().float()):
        assert other.graph is None
        assert other.encode_query("cost of a pool").weights == pytest.approx(before.weights, abs=1e-5)
    assert len(asked) == 3
    with torch.no_grad():
        next(model.body.encoder.layer[-1].output.LayerNorm.parameters()).mul_(2)
    assert model.encode_query("cost of a pool").weights.tolist() != before.weights.tolist() and len(asked) == 4


def test_an_entry_that_only_pads_the_vocabulary_is_named_by_its_id(padded_model, tmp_path):
    padded_model.float().save_pretrained(tmp_path / "checkpoint")
    ready = epic.Epic.from_pretrained(tmp_path / "checkpoint")
    (words,) = ready.encode_passages(["a pool"], words=True)
    assert len(words) == ready.vocabulary and {
        f"[unused {term}]" for term in range(ready.vocabulary - 3, ready.vocabulary)
    } <= set(words)
