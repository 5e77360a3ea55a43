"""Training on a random encoder: order, losses, determinism, roll-back, failures; tests/unit/test_state.py kills it."""

import math
from types import SimpleNamespace

import pytest
import torch

from epic.files import InputError
from epic.history import Iteration, best_of, read_history, write_history
from epic.loss import cross_entropy, one_minus_softmax
from epic.measures import mrr_at_10
from epic.model import Epic
from epic.state import State
from epic.train import Learner, finished, scores_of, slices, train
from epic.triples import sample
from epic.validation import open_validation
from tests.training import QRELS, RUN, settings, without_seconds


def trained(encoder, examples, validation, folder, formulation="paper", loss="cross-entropy", **changes):
    model = Epic.from_encoder(encoder, formulation, seed=7)
    return model, train(model, examples, validation, settings(**changes), loss, 7, State(folder / "state", "key"))


def test_both_losses_by_hand():
    scores = torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    assert cross_entropy(scores).tolist() == pytest.approx([math.log(1 + math.exp(-1)), math.log(2)], rel=1e-12)
    assert one_minus_softmax(scores).tolist() == pytest.approx([1 - 1 / (1 + math.exp(-1)), 0.5], rel=1e-12)


def test_cross_entropy_agrees_with_torch():
    scores = torch.randn(5, 2, dtype=torch.float64)
    theirs = torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long), reduction="none")
    assert torch.allclose(cross_entropy(scores), theirs, rtol=1e-12)


def test_gradients_add_up_over_micro_batches(mlm_encoder, examples, formulation):
    gradients = []
    for size in (1, 4):
        model = Epic.from_encoder(mlm_encoder, formulation, seed=7).double().eval()  # no dropout: both see the same numbers
        batch = examples().between(0, 4, model, None)
        for part in slices(batch, size):
            (cross_entropy(scores_of(model, part)).sum() / len(batch)).backward()
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

    def fake(model, *_):
        states.append(model.equations.theta1.detach().clone())
        return next(values)

    monkeypatch.setattr("epic.train.validate", fake)
    model, history = trained(mlm_encoder, examples(sample(QRELS, RUN, 80, seed=3)), validation, tmp_path, max_validations=10)
    assert [iteration.validation for iteration in history] == [0.5, 0.9, 0.9, 0.1]  # an equal value is no improvement
    assert torch.equal(model.equations.theta1, states[1])
    assert not model.training


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
    model = Epic.from_encoder(mlm_encoder, formulation, seed=7)
    old, new = Learner.of(model, settings(), "cross-entropy").optimizer.param_groups
    assert (old["lr"], new["lr"]) == (0.01, 0.02)
    assert len(new["params"]) == {"paper": 3, "released": 6}[formulation]
    assert len(old["params"]) + len(new["params"]) == len(list(model.parameters()))


def test_without_a_loss_nothing_is_trained(mlm_encoder, examples, validation, tmp_path):
    before = Epic.from_encoder(mlm_encoder, "paper", seed=7).state_dict()
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
    model = Epic.from_encoder(mlm_encoder, "paper", seed=7)
    with torch.no_grad():  # "price" occurs in passage 0 alone
        model.body.words.weight[model.tokenizer.token_to_id("price")] = float("nan")
    triples = [("q2", "1", "2")] * 5 + [("q2", "1", "0")]
    with pytest.raises(InputError, match=r"not finite in iteration 1, step 2 at query q2, passages 1 and 0 \(1 such\)"):
        train(model, examples(triples), validation, settings(), "cross-entropy", 7, State(tmp_path / "state", "key"))


def test_a_triple_with_an_unknown_id_is_named_with_file_and_line(mlm_encoder, examples, validation, tmp_path):
    with pytest.raises(InputError, match=r"t\.tsv line 2: query q9 is not in .*tq\.tsv"):
        examples([("q1", "0", "1"), ("q9", "0", "1")])
    late = [("q1", "0", "1")] * 9 + [("q1", "0", "99")]
    with pytest.raises(InputError, match=r"t\.tsv line 10: document 99 is not in path:"):
        trained(mlm_encoder, examples(late), validation, tmp_path)


def test_an_empty_file_of_triples_is_refused(examples, tmp_path):
    from epic.examples import Examples

    documents = examples().documents
    (tmp_path / "t.tsv").write_text("")
    with pytest.raises(InputError, match=r"t\.tsv: there are no triples"):
        Examples(tmp_path / "t.tsv", tmp_path / "tq.tsv", documents)


def test_only_judged_validation_queries_are_encoded_and_the_grade_counts(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\ta\nq2\tb\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\n")
    (tmp_path / "run").write_text("q1 Q0 0 1 2.0 t\nq2 Q0 1 1 2.0 t\n")
    names = {"validation_queries": "q.tsv", "validation_qrels": "qrels", "validation_run": "run"}
    files = SimpleNamespace(**{key: tmp_path / name for key, name in names.items()})
    found = open_validation(files, settings(), relevance=2)
    assert list(found.run) == ["q1"] and found.relevance == 2
    assert mrr_at_10(found.qrels, {"q1": ["0"]}, 2) == 0.0 and mrr_at_10(found.qrels, {"q1": ["0"]}, 1) == 1.0


def test_an_empty_passage_can_be_trained_on(mlm_encoder, examples, validation, formulation, tmp_path):
    _, history = trained(mlm_encoder, examples([("q1", "0", "3")]), validation, tmp_path, formulation)
    assert math.isfinite(history[0].loss)


def test_examples_come_in_file_order_and_passages_are_cut_only_by_the_setting(mlm_encoder, examples):
    model = Epic.from_encoder(mlm_encoder, "paper", seed=7)
    found = examples([("q2", "1", "0"), ("q1", "0", "3")]).between(0, 2, model, 2)
    assert [example.triple.query_id for example in found] == ["q2", "q1"]
    assert [len(pieces) for pieces in found[0][1:]] == [2, 2, 2] and found[1].other == []
    assert len(examples([("q2", "1", "0")]).between(0, 1, model, None)[0].relevant) == 3


def test_the_history_survives_its_file(tmp_path):
    history = [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5), Iteration(2, 16, 0.6, 0.75, 1 / 3, 1.4)]
    write_history(history, tmp_path / "history.tsv")
    header = (tmp_path / "history.tsv").read_text().splitlines()[0]
    assert header.split("\t") == ["iteration", "triples", "loss", "accuracy", "validation", "seconds"]
    assert read_history(tmp_path / "history.tsv") == history
    assert best_of(history).iteration == 2
    (tmp_path / "history.tsv").write_text("other\n")
    with pytest.raises(InputError, match="not a training history"):
        read_history(tmp_path / "history.tsv")
