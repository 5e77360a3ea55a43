"""DeepCT's training: labels at first word-pieces, the loss by hand, the course of rates, and runs that are killed."""

import math
import re
import signal

import pytest
import torch

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.first_stage.deepct_labels import Labels, read_labels
from epic.model.term_weights import load_term_weights
from epic.training import regress as module
from epic.training.regress import Portion, RegressSettings, example, factor_at, loss_of, regress, steps_of, stream, trained
from epic.training.resume import State
from tests.processes import call
from tests.weighting import TRAIN, regress_in, write_labelled

SETTINGS = RegressSettings(2, 0.01, 5, 0.1, 0.01, 1.0, 3, "float32")


@pytest.fixture
def labelled(tmp_path):
    return write_labelled(tmp_path)


@pytest.fixture
def model(tiny_encoder):
    return load_term_weights(tiny_encoder, 16, seed=5)


def run(folder, encoder, name, **changes):
    model = load_term_weights(encoder, 16, seed=5)
    documents = Documents(f"path:{folder}")
    history = trained(model, folder / "labels.jsonl", documents, TRAIN | changes, folder / f"state-{name}", "key")
    return model, history


def test_a_word_has_its_label_at_its_first_piece():
    found = example(["pool", "##s", "of", "pool", "cost", "##l"], [1, 2, 3, 4, 5, 6], Labels("7", 1, {"pools": 0.5, "pool": 1.0}))
    assert found == ("7", [1, 2, 3, 4, 5, 6], [0, 2, 3, 4], [0.5, 0.0, 1.0, 0.0])


def test_the_loss_is_the_mean_squared_error_over_the_words_of_a_batch():
    class Weights:
        """A model whose weights are known."""

        def __call__(self, pieces):
            assert pieces == [[1, 2, 3], [4, 5]]
            return torch.tensor([0.5, 9.0, 0.0, 1.0, -1.0])

    first, second = ["pool", "##s", "of"], ["cost", "a"]
    batch = [example(first, [1, 2, 3], Labels("0", 1, {"pools": 1.0})), example(second, [4, 5], Labels("1", 1, {"cost": 0.5}))]
    assert loss_of(Weights(), batch).item() == (0.5**2 + 0.0**2 + 0.5**2 + 1.0**2) / 4


def test_rates_rise_over_the_warm_up_and_fall_to_nothing():
    assert [factor_at(step, 10, 2) for step in range(10)] == [0, 0.5, *(pytest.approx(1 - step / 10) for step in range(2, 10))]
    assert factor_at(0, 10, 0) == 1.0


def test_batches_are_full_and_go_on_across_orders():
    assert steps_of(7, SETTINGS) == 17 and steps_of(1, RegressSettings(16, 1, 3, 0, 0, 1, 1, "float32")) == 0
    whole = stream(7, 5, 0, 34)
    assert sorted(whole[:7]) == sorted(whole[7:14]) == sorted(whole[14:21]) == list(range(7))
    assert whole[:7] != whole[7:14] and whole != stream(7, 6, 0, 34)
    assert stream(7, 5, 0, 6) + stream(7, 5, 6, 20) + stream(7, 5, 20, 34) == whole


def test_the_loss_falls_and_the_history_tells_it(labelled, tiny_encoder, tmp_path):
    _, history = run(labelled, tiny_encoder, "a", epochs=40, report_every=20)
    assert [one.portion for one in history] == [1, 2, 3, 4] and [one.passages for one in history] == [40, 80, 120, 160]
    assert history[-1].loss < history[0].loss * 0.6
    module.write_portions([Portion(1, 32, 0.5, 1.2)], tmp_path / "h.tsv")
    assert (tmp_path / "h.tsv").read_text() == "portion\tpassages\tloss\tseconds\n1\t32\t0.5\t1.2\n"


def test_a_seed_gives_the_same_weights_and_another_one_others(labelled, tiny_encoder):
    first, again, other = (run(labelled, tiny_encoder, name, seed=seed)[0].state_dict() for name, seed in ("a5", "b5", "c6"))
    assert all(torch.equal(value, again[name]) for name, value in first.items())
    assert not torch.equal(first["classifier.weight"], other["classifier.weight"])


def test_without_training_a_model_stays_as_it_is(model, tmp_path):
    before = model.classifier.weight.clone()
    assert trained(model, None, None, None, tmp_path / "state", "key") == [] and torch.equal(model.classifier.weight, before)
    module.write_portions([], tmp_path / "h.tsv")
    assert (tmp_path / "h.tsv").read_text() == "portion\tpassages\tloss\tseconds\n"


def test_too_few_passages_for_a_batch_are_refused(labelled, tiny_encoder):
    with pytest.raises(InputError, match="4 labelled passages, 5 times, do not fill a batch of 21; lower .*train.batch_size"):
        run(labelled, tiny_encoder, "a", batch_size=21)


def test_a_passage_that_is_not_in_the_collection_is_refused(labelled, tiny_encoder):
    (labelled / "labels.jsonl").write_text('{"id": "9", "queries": 1, "recall": {}}\n')
    with pytest.raises(InputError, match="has no document 9"):
        run(labelled, tiny_encoder, "a")


def test_a_loss_that_is_not_finite_is_refused_with_its_passages(labelled, model, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "loss_of", lambda model, batch: model(batch[0].pieces and [batch[0].pieces]).sum() * math.nan)
    labels, documents = read_labels(labelled / "labels.jsonl"), Documents(f"path:{labelled}")
    with pytest.raises(InputError, match=r"the loss is not finite in step 1, at passages \d to \d; lower .*train.learning_rate"):
        regress(model, labels, documents, SETTINGS, 5, State(tmp_path / "s", "key", kind=Portion, best=len))


def test_memory_that_runs_out_is_said_with_what_to_lower(labelled, model, tmp_path, monkeypatch):
    def full(model, batch):
        raise MemoryError("no more")

    monkeypatch.setattr(module, "loss_of", full)
    labels, documents = read_labels(labelled / "labels.jsonl"), Documents(f"path:{labelled}")
    with pytest.raises(InputError, match="memory ran out in step 1 with 2 passages at a time; lower .*train.batch_size"):
        regress(model, labels, documents, SETTINGS, 5, State(tmp_path / "s", "key", kind=Portion, best=len))


OFTEN, SELDOM = 1000, 0  # seconds between two looks at the clock: every portion is saved, or the last alone
KILLS = [  # where a run of four portions ends, and the portion after which the next one goes on
    (("epic.training.regress", "Learner.learn", 1, "before"), OFTEN, None),
    (("epic.training.regress", "Learner._step", 5, "after"), OFTEN, 1),
    (("epic.training.regress", "Learner.learn", 3, "after"), OFTEN, 2),
    (("epic.training.regress", "Learner.learn", 3, "after"), SELDOM, None),
    (("epic.training.resume", "write_tensors", 5, "after"), OFTEN, 1),  # half of a state is written
    (("epic.training.resume", "remove", 1, "before"), OFTEN, 2),  # a state in place, beside the one before
    (("epic.model.term_weights", "save_weights", 1, "before"), SELDOM, 4),  # trained, not yet written
]


@pytest.fixture(scope="module")
def unbroken(tiny_encoder, tmp_path_factory):
    folder = write_labelled(tmp_path_factory.mktemp("unbroken"))
    done = call(regress_in, folder, tiny_encoder, "whole", timeout=120)
    assert done.returncode == 0, done.stdout
    return folder


def timeless(path):
    return [line.rsplit("\t", 1)[0] for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("kill", "clock", "after"), KILLS, ids=[f"{kill[0][1]}-{kill[0][2]}-{kill[1]}" for kill in KILLS])
def test_a_killed_run_ends_with_the_weights_of_an_unbroken_one(unbroken, tiny_encoder, tmp_path, kill, clock, after):
    folder = write_labelled(tmp_path)
    died = call(regress_in, folder, tiny_encoder, "broken", kill, clock, timeout=120)
    assert died.returncode == -signal.SIGKILL, died.stdout
    again = call(regress_in, folder, tiny_encoder, "broken", timeout=120)
    assert again.returncode == 0, again.stdout
    assert re.findall(r"going on after iteration (\d), passage \d+", again.stdout) == ([str(after)] if after else [])
    weights = [path / "model.safetensors" for path in (folder / "broken", unbroken / "whole")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert timeless(folder / "broken.tsv") == timeless(unbroken / "whole.tsv")
