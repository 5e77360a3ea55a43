"""phi_d over the vocabulary: kernels against the formula, by hand and by torch; what is not finite; what fails."""

import math
from functools import partial

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.experiment.settings import EncodeSettings
from epic.vectors import phi
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_tensors, document_vectors, vectors_by_batch
from tests.vectors import spoken

TEXTS = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p q r s t u v w x y z", "café pools cost", "z"]


def reduced(kernel, scores, w, lengths, bias=0.0):
    bounds, w = np.cumsum([0, *lengths]), np.array(w, dtype=np.float32)
    if kernel is phi.damped_maximum:
        kernel = partial(kernel, np.full(np.shape(scores)[1], bias, dtype=np.float32))
    best = np.full((len(lengths), np.shape(scores)[1]), 99, dtype=np.float32)  # what was there before must not matter
    kernel(np.array(scores, dtype=np.float32), w, phi.by_weight(w, bounds), bounds, best)
    return best


def test_the_linear_maximum_by_hand():
    found = reduced(phi.linear_maximum, [[1, -4], [3, -1], [-2, 5]], [2, 0.5, 1], [2, 0, 1])
    assert found.tolist() == [[2.0, -0.5], [0.0, 0.0], [-2.0, 5.0]]


def test_the_damped_maximum_by_hand():
    def g(x):
        return math.log1p(math.log1p(math.exp(x)))

    found = reduced(phi.damped_maximum, [[0, 2], [1, 1], [30, -80]], [1, 3, 2], [2, 1])
    expected = [[3 * g(1), 3 * g(1)], [2 * math.log1p(30), 2 * g(-80)]]
    assert found == pytest.approx(np.array(expected), rel=1e-6)
    shifted = reduced(phi.damped_maximum, [[1, 3], [2, 2], [31, -79]], [1, 3, 2], [2, 1], bias=-1)
    assert shifted == pytest.approx(np.array(expected), rel=1e-6)
    assert reduced(phi.damped_maximum, np.empty((0, 2)), [], [0]).tolist() == [[0.0, 0.0]]


def test_the_activation_is_exact_everywhere():
    x = np.concatenate([np.linspace(-90, 60, 20_001), np.log(0.02) + np.linspace(-1e-3, 1e-3, 21)]).astype(np.float32)
    expected = np.log1p(np.logaddexp(0, x.astype(np.float64)))
    found = np.array([phi._activation(value) for value in x], dtype=np.float64)
    assert found == pytest.approx(expected, rel=3e-7)


@pytest.mark.parametrize("kernel", [phi.linear_maximum, phi.damped_maximum])
def test_kernels_equal_torch_on_random_scores_with_ties(kernel):
    draw, lengths = np.random.default_rng(0), [7, 1, 0, 40]
    scores = draw.integers(-20, 30, size=(48, 33)).astype(np.float32) / 2
    w = draw.integers(0, 4, size=48).astype(np.float32) / 3  # zero and equal weights among them
    value = torch.from_numpy(scores)
    if kernel is phi.damped_maximum:
        value = torch.log1p(torch.nn.functional.softplus(value))
    weights = torch.from_numpy(w)[:, None] * value
    expected = [part.amax(0) if len(part) else torch.zeros(33) for part in weights.split(lengths)]
    assert reduced(kernel, scores, w, lengths) == pytest.approx(torch.stack(expected).numpy(), rel=1e-6)


@pytest.mark.parametrize("block", [1, 5, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_compiled_code_and_torch_give_the_same_vectors(model, monkeypatch, block, threads):
    model, before = model.float(), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        ours = document_vectors(model, model.pieces(TEXTS), block)
        monkeypatch.setattr(phi, "_by_kernel", phi._by_torch)
        theirs = document_vectors(model, model.pieces(TEXTS), 7)
    finally:
        torch.set_num_threads(before)
    assert not ours[1].any() and ours[3].any()
    steps = np.spacing(np.maximum(abs(ours), abs(theirs))).astype(np.float64)
    assert (abs(ours.astype(np.float64) - theirs) <= steps).all()


def test_mixed_precision_is_near_and_really_mixed(model):
    model = model.float()
    exact = document_vectors(model, model.pieces(TEXTS), 7)
    model.precision = torch.bfloat16
    mixed = document_vectors(model, model.pieces(TEXTS), 7)
    assert np.allclose(exact, mixed, rtol=0.1, atol=0.05) and (exact != mixed).any()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 3e38])
@pytest.mark.parametrize("where", ["theta3", "head"])
def test_no_weight_that_is_not_finite_gets_past_the_kernels(model, value, where):
    model = model.float()
    with torch.no_grad():
        if where == "theta3":
            parameter = model.equations.theta3
            (parameter if isinstance(parameter, torch.nn.Parameter) else parameter.bias).view(-1)[0] = value
        else:
            next(iter(model.body.encoder.layer[-1].output.LayerNorm.parameters()))[0] = value
    pieces = dict(zip("ab", model.pieces(["pool", "x y"]), strict=True))
    found = document_vectors(model, list(pieces.values()), 7)
    if not np.isfinite(found).all():
        with pytest.raises(InputError, match="document [ab] has a weight that is not finite"):
            list(vectors_by_batch(model, pieces, 512, 7))
    else:  # -inf in an importance is an importance of zero, and 3e38 may be damped or cancelled
        assert value == float("-inf") or value == 3e38
        model.double()
        assert np.allclose(found, document_vectors(model, list(pieces.values()), 7), rtol=1e-2, atol=1e-3)


class Few:
    """A collection in memory."""

    def __init__(self, texts):
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def span(self, positions):
        return ((f"d{place}", self.texts[place]) for place in positions)


def test_a_passage_that_fails_stops_the_shard_with_its_id(paper_model, tmp_path, monkeypatch):

    model, bad = paper_model.float(), paper_model.pieces(["cost cost"])[0]

    def failing(model, pieces, block, longest):
        if bad in pieces:
            raise RuntimeError("out of memory, say")
        return document_tensors(model, pieces, block, longest)

    monkeypatch.setattr(phi, "document_tensors", failing)
    settings = EncodeSettings(keep=[5], token_budget=512, vocabulary_block=7)
    with pytest.raises(InputError, match=r"encoding failed at document d1 \(1 at a time.*out of memory, say.*vocabulary_block"):
        encode_shard(model, "digest", spoken(model, Few(["x", "cost cost", "pool"])), settings, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    encode_shard(model, "digest", spoken(model, Few(["x", "pool"])), settings, tmp_path / "out")
    assert (tmp_path / "out" / "header.json").exists()
