"""Training on a random encoder: order, losses, determinism, roll-back, failures; test_resume.py kills it."""

import math

import pytest
import torch

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.corpus.sampling import sample
from epic.model.epic import EpicModel
from epic.rankers import epic as family
from epic.training.history import Iteration, best_of
from epic.training.loss import cross_entropy
from epic.training.resume import State
from epic.training.train import Learner, finished, slices, train
from epic.vectors import unpruned_scores
from tests.measures import measure
from tests.training import QRELS, RUN, settings, trained, without_seconds


def test_gradients_add_up_over_micro_batches(mlm_encoder, examples, formulation):
    gradients = []
    for size in (1, 4):
        model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7).double().eval()  # no dropout: both see the same numbers
        batch = examples().between(0, 4)
        for part in slices(batch, size):
            (cross_entropy(family.pair_scores(model, part, None)).sum() / len(batch)).backward()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    assert torch.allclose(*gradients, rtol=1e-10, atol=1e-14)


def test_training_learns_and_two_runs_give_the_same_weights(mlm_encoder, examples, validation, formulation, tmp_path):
    losses = {"paper": "cross-entropy", "released": "one-minus-softmax"}
    runs = [trained(mlm_encoder, examples(), validation, tmp_path / name, formulation, losses[formulation]) for name in "ab"]
    (model, history), (again, same) = runs
    assert without_seconds(history) == without_seconds(same)
    before, after = model.state_dict(), again.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert history[-1].loss < history[0].loss
    assert [iteration.triples for iteration in history] == [8, 16, 24][: len(history)]
    left = sorted(path.name for path in (tmp_path / "a" / "state" / "key").iterdir())
    assert left == [f"best-{best_of(history).iteration:05d}.safetensors", f"iteration-{len(history):05d}"]


def test_the_best_weights_are_left_and_patience_ends_training(mlm_encoder, examples, validation, monkeypatch, tmp_path):
    values, states = iter([0.5, 0.9, 0.9, 0.1, 0.1]), []

    def fake(family, model, *_):
        states.append(model.equations.theta1.detach().clone())
        return next(values)

    monkeypatch.setattr("epic.training.train.validate", fake)
    model, history = trained(mlm_encoder, examples(sample(QRELS, RUN, 80, seed=3)), validation, tmp_path, max_validations=10)
    assert [iteration.validation for iteration in history] == [0.5, 0.9, 0.9, 0.1]  # an equal value is no improvement
    assert torch.equal(model.equations.theta1, states[1])
    assert not model.training


@pytest.mark.parametrize(("chosen_by", "values", "best"), [("RR@10", [1.0, 0.5], 1), ("Rprec", [1 / 3, 2 / 3], 2)])
def test_another_measure_chooses_another_iteration(
    mlm_encoder, examples, validation, monkeypatch, tmp_path, caplog, chosen_by, values, best
):
    """Three are relevant, a, b and c: first one of them leads and the others follow far behind, then all come after x."""
    orders, states = iter(["axybc", "xabcy"]), []

    def score(model, *_):
        states.append(model.equations.theta1.detach().clone())
        return {"q": [ScoredDoc(doc_id, -float(rank)) for rank, doc_id in enumerate(next(orders))]}

    monkeypatch.setattr(family, "score", score)
    judged = validation._replace(qrels={"q": {"a": 1, "b": 1, "c": 1}}, measure=measure(chosen_by))
    with caplog.at_level("INFO"):
        model, history = trained(mlm_encoder, examples(), judged, tmp_path, max_validations=2)
    assert [iteration.validation for iteration in history] == pytest.approx(values) and best_of(history).iteration == best
    assert torch.equal(model.equations.theta1, states[best - 1])
    name = {"RR@10": "MRR@10", "Rprec": "R-prec"}[chosen_by]
    assert f"validation {name} {values[0]:.4f}, " in caplog.text
    assert f"best: iteration {best} of 2, {name} {values[best - 1]:.4f}" in caplog.text


@pytest.mark.parametrize(
    ("values", "total", "changes", "expected"),
    [
        ([], 24, {}, False),
        ([0.1], 24, {}, False),
        ([0.1], 8, {}, True),  # no triples left
        ([0.1, 0.2, 0.3], 99, {}, True),  # max_validations
        ([0.3, 0.2, 0.3], 99, {"max_validations": 9}, True),  # patience: 0.3 again is no improvement
        ([0.1, 0.3, 0.2], 99, {"max_validations": 9}, False),
    ],
)
def test_when_training_ends(values, total, changes, expected):
    history = [Iteration(i, 8 * i, 0.0, 0.0, value, 0.0) for i, value in enumerate(values, start=1)]
    assert finished(history, settings(**changes), total) == expected


def test_the_layers_that_start_at_random_have_their_own_learning_rate(mlm_encoder, formulation):
    model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7)
    old, new = Learner.of(family, model, settings(), "cross-entropy").optimizer.parts[0].param_groups
    assert (old["lr"], new["lr"]) == (0.01, 0.02)
    assert len(new["params"]) == {"paper": 3, "released": 6}[formulation]
    assert len(old["params"]) + len(new["params"]) == len(list(model.parameters()))


def test_without_a_loss_nothing_is_trained(mlm_encoder, examples, validation, tmp_path):
    before = EpicModel.from_encoder(mlm_encoder, "paper", seed=7).state_dict()
    model, history = trained(mlm_encoder, examples(), validation, tmp_path, loss=None)
    assert history == [] and all(torch.equal(before[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("encoder", ["mlm_encoder", "tiny_encoder"])
@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_trains_on_the_cpu_too_and_keeps_float32_weights(
    examples, validation, tmp_path, precision, formulation, encoder, request
):
    encoder = request.getfixturevalue(encoder)
    model, history = trained(encoder, examples(), validation, tmp_path, formulation, precision=precision)
    _, expected = trained(encoder, examples(), validation, tmp_path / "plain", formulation)
    assert {value.dtype for value in model.state_dict().values()} == {torch.float32}
    assert history[0].loss == pytest.approx(expected[0].loss, rel=0.05) and history[0].loss != expected[0].loss


def test_a_loss_that_is_not_finite_stops_with_the_step_and_the_triple(mlm_encoder, examples, validation, tmp_path):
    model = EpicModel.from_encoder(mlm_encoder, "paper", seed=7)
    with torch.no_grad():  # "price" occurs in passage 0 alone
        model.body.words.weight[model.tokenizer.token_to_id("price")] = float("nan")
    triples = [("q2", "1", "2")] * 5 + [("q2", "1", "0")]
    with pytest.raises(InputError, match=r"not finite in iteration 1, step 2 at query q2, passages 1 and 0 \(1 such\)"):
        train(family, model, examples(triples), validation, settings(), "cross-entropy", 7, State(tmp_path / "state", "key"))


def test_an_empty_passage_can_be_trained_on(mlm_encoder, examples, validation, formulation, tmp_path):
    _, history = trained(mlm_encoder, examples([("q1", "0", "3")]), validation, tmp_path, formulation)
    assert math.isfinite(history[0].loss)


@pytest.mark.parametrize(("size", "remedy"), [(2, "lower train.micro_batch_size"), (1, "set train.max_tokens")])
@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError("DefaultCPUAllocator: not enough")])
def test_triples_that_do_not_fit_into_memory_stop_training_with_what_to_lower(
    mlm_encoder, examples, validation, tmp_path, monkeypatch, size, remedy, error
):
    def fitting_without_passage_0(ranker, part, limit, real=family.pair_scores):
        if any(example.triple.relevant_id == "0" for example in part):
            raise error
        return real(ranker, part, limit)

    monkeypatch.setattr(family, "pair_scores", fitting_without_passage_0)
    triples = [("q2", "1", "2")] * 5 + [("q1", "0", "2")]
    said = f"memory ran out in iteration 1, step 2, with {size} triples at a time, the longest at query q1, passages 0 and 2; {remedy},"
    with pytest.raises(InputError, match=said):
        trained(mlm_encoder, examples(triples), validation, tmp_path, micro_batch_size=size)


def test_an_error_that_is_not_about_memory_stays_what_it_is(mlm_encoder, examples, validation, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(family, "pair_scores", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        trained(mlm_encoder, examples(), validation, tmp_path)


def test_a_validation_that_does_not_fit_into_memory_goes_on_with_fewer_passages_at_a_time(
    mlm_encoder, examples, validation, tmp_path, monkeypatch, caplog
):
    _, expected = trained(mlm_encoder, examples(), validation, tmp_path / "whole")

    def one_at_a_time(model, doc_ids, *rest, real=unpruned_scores.passage_weights):
        if len(doc_ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(model, doc_ids, *rest)

    monkeypatch.setattr(unpruned_scores, "passage_weights", one_at_a_time)
    _, history = trained(mlm_encoder, examples(), validation, tmp_path / "small")
    assert without_seconds(history) == without_seconds(expected)
    assert "memory ran out with 3 passages at a time" in caplog.text
