"""What a real card must do for every family besides EPIC and TK, and for the models that write texts: learn, score, weigh, draw.

The same tests run on the stand-in, so that they are right themselves; `pytest -m gpu` runs those that need a card.
"""

import numpy as np
import pytest
import torch

from epic.first_stage.deepct_labels import Labels
from epic.model.device import prepare
from epic.model.term_weights import load_term_weights
from epic.rankers import cross_encoder, duet
from epic.training.members import train_all
from epic.training.regress import Portion, RegressSettings, regress
from epic.training.resume import State
from epic.vectors.batches import Budget
from epic.vectors.reweigh import weights_of
from tests.cross_encoders import ENTRY
from tests.device.test_gpu import job, place  # noqa: F401 - fixtures
from tests.device.work import CPU, QUERIES, RUN, TEXTS, Passages, queries_of_all
from tests.generators import write_generator
from tests.training import settings
from tests.words import duet_model, write_vocabulary

LAST = ("classifier.weight", "last.weight")  # of the last layers
LOSSES = {"duet": "cross-entropy", "cross_encoder": "binary-cross-entropy"}


@pytest.fixture(params=[duet, cross_encoder], ids=LOSSES)
def made(request, tiny_encoder, tmp_path):
    """Make a ranker of a family on a device."""
    family = request.param
    if family is duet:
        write_vocabulary(tmp_path / "words")
        return lambda device: (family, duet.create(tmp_path / "words", duet_model(members=2), [], device))
    small = ENTRY | {"settings": {"query_pieces": 4, "total_pieces": 15}}
    return lambda device: (family, cross_encoder.create(tiny_encoder, small, [], device))


def scores(family, checkpoint, compute):
    found = family.score(family.load(checkpoint, compute), RUN, QUERIES, Passages(), 24)
    return np.array([hit.score for hits in found.values() for hit in hits])  # (n,)


def test_scores_are_those_of_a_cpu(made, tmp_path, job):  # noqa: F811
    family, ranker = made("cpu")
    with torch.no_grad():  # so that pairs differ by more than a rounding
        for name, value in ranker.named_parameters():
            value.mul_(1000 if name.endswith(LAST) else 1)
    family.save(ranker, tmp_path / "checkpoint", str)
    expected, found = (scores(family, tmp_path / "checkpoint", compute) for compute in (CPU, job))
    tolerance = 1e-4 if job["precision"] == "float32" else 0.05
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * np.ptp(expected))
    assert np.corrcoef(found, expected)[0, 1] > 0.9


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_training_is_the_same_bits_twice(made, examples, validation, tmp_path, place, precision):  # noqa: F811
    ends = []
    for number in range(2):
        family, ranker = made(prepare(place, 1))
        name = family.__name__.rpartition(".")[2]
        state = State(tmp_path / str(number), "key")
        train_all(family, ranker, examples(), validation, settings(precision=precision, patience=9), LOSSES[name], 7, state)
        ends.append({name: value.cpu() for name, value in ranker.state_dict().items()})
    _, start = made("cpu")
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())
    assert any(not torch.equal(value, ends[0][name]) for name, value in start.state_dict().items())


def test_a_weighter_learns_and_weighs_as_on_a_cpu(tiny_encoder, tmp_path, job):  # noqa: F811
    labels = [Labels(str(number), 1, {"pool": 1.0, "x": 0.5}) for number in range(len(TEXTS))]
    device = prepare(job["device"], 1, job["precision"])
    model = load_term_weights(tiny_encoder, 16, seed=3).to(device)
    learning = RegressSettings(2, 0.01, 2, 0.1, 0.01, 1.0, 4, "float32")
    regress(model, labels, Passages(), learning, 3, State(tmp_path / "state", "key", lambda: 0.0, Portion, len))
    model.eval()
    pieces = {str(number): ids for number, ids in enumerate(model.pieces(TEXTS))}
    found = dict(weights_of(model, pieces, Budget(64), job["precision"]))
    expected = dict(weights_of(model.to("cpu"), pieces, Budget(64)))
    tolerance = 1e-5 if job["precision"] == "float32" else 0.05
    assert all(np.allclose(found[name], expected[name], atol=tolerance) for name in pieces)
    assert any(weights.any() for weights in expected.values())


def test_a_generator_draws_on_a_card_and_in_float32_what_it_draws_on_a_cpu(tmp_path, job):  # noqa: F811
    write_generator(tmp_path / "generator")
    found = queries_of_all(tmp_path, prepare(job["device"], 1, job["precision"]), job["precision"])
    assert len(found) == len(TEXTS) and all(len(queries) == 3 for queries in found)
    if job["precision"] == "float32":
        assert found == queries_of_all(tmp_path, "cpu")
