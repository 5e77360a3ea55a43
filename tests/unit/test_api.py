"""EPIC from Python: plain arrays, the same numbers as the workflow's, and a fast import."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import epic
from epic.core import seals
from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.model.query_torch import query_vector
from epic.rankers import pairs, tk
from epic.vectors.phi import document_vectors
from epic.vectors.topk import top_terms
from tests.conftest import ROOT
from tests.tk import entry, write_vocabulary

PASSAGES = ["price of a pool", "", "a b a café", " ".join("abcdefghijklmnopqrstuvwxyz" * 24)]


@pytest.fixture
def ready(model, tmp_path):
    model.float().save_pretrained(tmp_path / "checkpoint")
    return epic.Epic.from_pretrained(tmp_path / "checkpoint")


def test_importing_the_package_does_not_import_torch():
    for name in ("Epic", "load_ranker"):
        code = f"import sys, epic; assert 'torch' not in sys.modules; from epic import {name}; assert 'torch' in sys.modules"
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


@pytest.fixture
def overlap(tmp_path):
    """A checkpoint of a family that scores pairs of texts, sealed as the workflow does it."""
    ranker = pairs.create(None, {"family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 1}, None, "cpu")
    with torch.no_grad():
        ranker.weight.copy_(torch.tensor([1.0, -0.5]))
    pairs.save(ranker, tmp_path / "pairs" / "checkpoint", lambda digest: "# a card\n")
    seals.seal([tmp_path / "pairs" / "checkpoint"], "train")
    return tmp_path / "pairs" / "checkpoint"


def test_a_ranker_of_any_family_is_loaded_and_scores_as_the_workflow_does(overlap, collection_of):
    ranker, texts = epic.load_ranker(overlap), ["a pool of water", "", "the price of a pool", "pool"]
    found = ranker.score("price of pool", texts)
    assert ranker.family == "tests.fake_ranker" and found.dtype == np.float32 and found.shape == (4,)
    stage = pairs.load(overlap, {"device": "cpu", "threads": 1, "precision": "float32"})
    run = {"q": [ScoredDoc(str(place), 0.0) for place in range(4)]}
    scored = pairs.score(stage, run, {"q": "price of pool"}, collection_of(*texts), 4096)
    assert found.tolist() == [pytest.approx(hit.score, rel=1e-6) for hit in scored["q"]]
    assert ranker.rerank("price of pool", texts).tolist() == sorted(range(4), key=lambda place: -found[place]) == [2, 0, 3, 1]
    assert ranker.rerank("zebra", ["b", "a a", "c"]).tolist() == [0, 2, 1]  # equal ones as they came
    assert ranker.score("price", []).shape == ranker.rerank("price", []).shape == (0,)


def test_a_family_that_scores_in_its_own_way_is_asked_in_that_way(tmp_path, collection_of):
    ranker = tk.create(write_vocabulary(tmp_path / "words"), entry(), None, "cpu")
    tk.save(ranker, tmp_path / "checkpoint", lambda digest: "# a card\n")
    texts = ["a pool", "", "a price of a pool", "unheard of"]
    run = {"q": [ScoredDoc(str(place), 0.0) for place in range(4)]}
    scored = tk.score(ranker, run, {"q": "price of pool"}, collection_of(*texts), 4096)
    found = epic.load_ranker(tmp_path / "checkpoint")
    assert found.family == "tk" and found.score("price of pool", texts).tolist() == [
        pytest.approx(hit.score, rel=1e-5, abs=1e-6) for hit in scored["q"]
    ]


def test_a_checkpoint_of_epic_is_an_epic(ready, tmp_path):
    found = epic.load_ranker(tmp_path / "checkpoint", threads=1)
    assert isinstance(found, epic.Epic) and found.family == "epic" and torch.get_num_threads() == 1
    assert found.score("a pool", PASSAGES).tolist() == ready.score("a pool", PASSAGES).tolist()
    assert found.rerank("a pool", PASSAGES).tolist() == np.argsort(-ready.score("a pool", PASSAGES), kind="stable").tolist()


def test_no_progress_bar_is_shown_for_a_few_passages(overlap, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    epic.load_ranker(overlap).score("a pool", ["a pool"])
    assert capsys.readouterr().err == ""


def test_what_is_no_checkpoint_is_refused_with_the_reason(overlap, tmp_path):
    with pytest.raises(
        InputError, match=r"nowhere: no checkpoint \(neither epic\.json nor ranker\.json\); name a folder like train/"
    ):
        epic.load_ranker(tmp_path / "nowhere")
    for given, message in (
        ({"precision": "float8"}, "there is no precision float8; there are float32, tf32, "),
        ({"precision": "bfloat16"}, "bfloat16 is for the device cuda; say float32"),
        ({"device": "cuda"}, "torch sees no GPU") if not torch.cuda.is_available() else ({"precision": ""}, "no precision"),
    ):
        with pytest.raises(InputError, match=message):
            epic.load_ranker(overlap, **given)
    facts = (overlap / "ranker.json").read_text()
    (overlap / "ranker.json").write_text(facts + " ")
    with pytest.raises(InputError, match=r"ranker\.json has \d+ bytes; .* were written by the stage train"):  # the seal
        epic.load_ranker(overlap)
    for text, message in (
        (
            facts.replace("tests.fake_ranker", "somebody.ranker"),
            r"ranker\.json: there is no family somebody\.ranker; there are .*epic",
        ),
        ("{}", r"ranker\.json: it names no family"),
        ("[", r"ranker\.json"),
    ):
        (overlap / "ranker.json").write_text(text)
        seals.seal([overlap], "train")
        with pytest.raises(InputError, match=message):
            epic.load_ranker(overlap)
