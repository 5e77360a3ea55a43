"""Triples and training on a random encoder: order, loss, determinism, roll-back, failures."""

import math

import pytest
import torch

from epic.config import TrainSettings
from epic.data import Documents
from epic.files import InputError
from epic.model import Epic
from epic.runs import ScoredDoc
from epic.train import Validation, cross_entropy, slices, train, triple_scores, write_history
from epic.triples import Triple, from_judgments, read_triples, sample

QRELS = {"q1": {"0": 1}, "q2": {"1": 1, "2": 1}}
RUN = {"q1": [ScoredDoc(doc, 1.0) for doc in "012"], "q2": [ScoredDoc(doc, 1.0) for doc in "120"]}
QUERIES = {"q1": "cost of pool", "q2": "a b"}


def settings(**changes):
    values = {
        "batch_size": 4, "micro_batch_size": 2, "learning_rate": 0.01, "learning_rate_new_layers": 0.02, "validate_every": 8,
        "validation_hits": 3, "validation_first_stage": "bm25", "patience": 2, "max_validations": 3, "max_tokens": None, "threads": 1,
    }  # fmt: skip
    return TrainSettings(**values | changes)


@pytest.fixture
def documents(tmp_path):
    (tmp_path / "docs.tsv").write_text("0\tprice of pool\n1\ta b c\n2\tb a\n3\t\n")
    return Documents(f"path:{tmp_path}")


@pytest.fixture
def validation():
    return Validation(QUERIES, QRELS, RUN, token_budget=512)


def test_cross_entropy_by_hand():
    found = cross_entropy(torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64)).item()
    assert found == pytest.approx(math.log(1 + math.exp(-1)) + math.log(2), rel=1e-12)


def test_cross_entropy_agrees_with_torch():
    scores = torch.randn(5, 2, dtype=torch.float64)
    theirs = torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long), reduction="sum")
    assert cross_entropy(scores).item() == pytest.approx(theirs.item(), rel=1e-12)


def test_sampled_triples_are_seeded_balanced_and_never_have_a_relevant_negative():
    triples = sample(QRELS, RUN, 10, seed=3)
    assert triples == sample(QRELS, RUN, 10, seed=3) != sample(QRELS, RUN, 10, seed=4)
    assert len(triples) == 10
    for triple in triples:
        assert QRELS[triple.query_id].get(triple.relevant_id) == 1
        assert triple.other_id not in QRELS[triple.query_id]
    assert {triple.query_id for triple in triples[:2]} == {"q1", "q2"}  # each query once before any comes again


def test_a_query_without_hits_is_left_out_and_nothing_to_draw_is_an_error():
    assert {triple.query_id for triple in sample(QRELS, {"q1": RUN["q1"]}, 4, seed=1)} == {"q1"}
    with pytest.raises(InputError, match="no query has both"):
        sample(QRELS, {"q1": RUN["q1"][:1]}, 4, seed=1)


def test_triples_survive_the_file_in_order(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tcost of pool\nq2\ta b\nq3\tnot used\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\nq2 0 1 1\nq2 0 2 1\n")
    lines = [f"{query_id} Q0 {hit.doc_id} {rank} 1.0 t" for query_id, hits in RUN.items() for rank, hit in enumerate(hits, 1)]
    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    from_judgments(tmp_path / "q.tsv", tmp_path / "qrels", tmp_path / "run", 6, 3, 3, tmp_path / "t.tsv", tmp_path / "tq.tsv")
    assert read_triples(tmp_path / "t.tsv") == sample(QRELS, RUN, 6, seed=3)
    assert (tmp_path / "tq.tsv").read_text() == "q1\tcost of pool\nq2\ta b\n"
    (tmp_path / "t.tsv").write_text("q1\t0\t1\nq1\t0\n")
    with pytest.raises(InputError, match=r"t\.tsv line 2"):
        read_triples(tmp_path / "t.tsv")


def test_gradients_add_up_over_micro_batches(tiny_encoder, documents):
    triples = sample(QRELS, RUN, 4, seed=3)
    gradients = []
    for size in (1, 4):
        model = Epic.from_encoder(tiny_encoder, seed=7).double().eval()  # no dropout, so that both see the same numbers
        pieces = dict(zip("0123", model.pieces(documents.texts(list("0123"))), strict=True))
        for part in slices(triples, size):
            (cross_entropy(triple_scores(model, part, QUERIES, pieces)) / len(triples)).backward()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    assert torch.allclose(*gradients, rtol=1e-10, atol=1e-14)


def trained(tiny_encoder, documents, validation, triples=None, **changes):
    model = Epic.from_encoder(tiny_encoder, seed=7)
    triples = triples or sample(QRELS, RUN, 24, seed=3)
    return model, train(model, triples, QUERIES, documents, validation, settings(**changes), seed=7)


def test_training_learns_and_two_runs_give_the_same_weights(tiny_encoder, documents, validation):
    model, history = trained(tiny_encoder, documents, validation)
    again, same = trained(tiny_encoder, documents, validation)
    assert history == same
    assert all(
        torch.equal(left, right) for left, right in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
    )
    assert history[-1].loss < history[0].loss
    assert [iteration.triples for iteration in history] == [8, 16, 24][: len(history)]


def test_the_best_weights_are_left_and_patience_ends_training(tiny_encoder, documents, validation, monkeypatch):
    values, states = iter([0.5, 0.9, 0.9, 0.1, 0.1]), []

    def fake(model, *_):
        states.append(model.theta1.detach().clone())
        return next(values)

    monkeypatch.setattr("epic.train.validate", fake)
    model, history = trained(tiny_encoder, documents, validation, sample(QRELS, RUN, 80, seed=3), max_validations=10)
    assert [iteration.validation for iteration in history] == [0.5, 0.9, 0.9, 0.1]  # an equal value is no improvement
    assert torch.equal(model.theta1, states[1])
    assert not model.training


def test_a_loss_that_is_not_finite_stops_with_the_triples(tiny_encoder, documents, validation):
    model = Epic.from_encoder(tiny_encoder, seed=7)
    with torch.no_grad():
        model.theta1.fill_(float("nan"))
    with pytest.raises(InputError, match="the loss is nan at the triples"):
        train(model, [Triple("q1", "0", "1")], QUERIES, documents, validation, settings(), seed=7)


def test_an_unknown_document_in_a_triple_is_named(tiny_encoder, documents, validation):
    with pytest.raises(InputError, match="no document 99"):
        trained(tiny_encoder, documents, validation, [Triple("q1", "0", "99")])


def test_an_empty_passage_can_be_trained_on(tiny_encoder, documents, validation):
    _, history = trained(tiny_encoder, documents, validation, [Triple("q1", "0", "3")])
    assert math.isfinite(history[0].loss)


def test_the_history_is_a_table(tiny_encoder, documents, validation, tmp_path):
    _, history = trained(tiny_encoder, documents, validation)
    write_history(history, tmp_path / "history.tsv")
    lines = (tmp_path / "history.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["iteration", "triples", "loss", "accuracy", "validation"]
    assert len(lines) == len(history) + 1
