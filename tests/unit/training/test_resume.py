"""Training that is killed goes on where it was, and ends with the same bytes as training that was not."""

import errno
import json
import os
import re
import shutil
import signal
from itertools import count

import pytest
import torch

from epic.core import files
from epic.core.files import InputError
from epic.model.epic import EpicModel
from epic.planning.repair import remove_states
from epic.rankers import epic as family
from epic.training import resume
from epic.training.history import Iteration
from epic.training.resume import State, key_of
from epic.training.train import Learner, train
from tests.processes import call
from tests.training import settings, train_in, without_seconds, write_collection

OFTEN, SELDOM = 1000, 0  # seconds that pass between two looks at the clock: every validation is saved, or the best and the last
KILLS = [  # and the iteration after which the next run goes on: if states are saved often, and if they are saved seldom
    (("epic.training.train", "Learner.learn", 1, "before"), 0, 0),  # nothing saved yet
    (("epic.rankers.epic", "pair_scores", 6, "before"), 1, 1),  # in the middle of the second iteration
    (("epic.training.train", "validate", 2, "after"), 1, 1),  # validated, not saved
    (("epic.training.resume", "write_tensors", 1, "after"), 0, 0),  # the first best weights are half written
    (("epic.training.resume", "write_tensors", 2, "before"), 0, 0),  # they are in place, without a state
    (("epic.training.resume", "write_tensors", 5, "after"), 1, 1),  # half of a state is written
    (("epic.training.resume", "write_json", 2, "after"), 1, 1),  # written, not yet in place
    (("epic.training.resume", "remove", 1, "before"), 2, 3),  # in place, beside the one before
    (("epic.training.resume", "State.save", 2, "after"), 2, 1),  # after a validation that need not be saved
    (("epic.training.train", "validate", 3, "after"), 2, 1),
    (("epic.training.resume", "State.load_best", 1, "before"), 3, 3),  # trained, not yet rolled back
    (("epic.model.epic", "save_weights", 1, "after"), 3, 3),  # the checkpoint is half written
]
BY_CLOCK = [(kill, OFTEN, often) for kill, often, _ in KILLS] + [(kill, SELDOM, seldom) for kill, _, seldom in KILLS[5:10]]


FULL = dict.fromkeys(("write_json", "sync", "write_tensors"), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def run(folder, encoder, formulation, name, kill=None, clock=OFTEN):
    return call(train_in, folder, encoder, formulation, name, kill, clock, timeout=120)


@pytest.fixture(scope="module")
def unbroken(mlm_encoder, tmp_path_factory):
    """The weights of runs that nothing disturbed, by formulation."""
    found = {}
    for name in ("paper", "released"):
        folder = write_collection(tmp_path_factory.mktemp(name))
        done = run(folder, mlm_encoder, name, "whole")
        assert done.returncode == 0, done.stdout
        found[name] = folder / "whole" / "model.safetensors", (folder / "whole.tsv").read_text()
    return found


def timeless(text):
    return [line.rsplit("\t", 1)[0] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("formulation", "kill", "clock", "after"),
    [("paper", *kill) for kill in BY_CLOCK] + [("released", *kill) for kill in (BY_CLOCK[1], BY_CLOCK[6])],
    ids=lambda value: "-".join(map(str, value[1:])) if isinstance(value, tuple) else str(value),
)
def test_a_killed_run_ends_with_the_weights_of_an_unbroken_one(unbroken, mlm_encoder, tmp_path, formulation, kill, clock, after):
    folder = write_collection(tmp_path)
    died = run(folder, mlm_encoder, formulation, "broken", kill, clock)
    assert died.returncode == -signal.SIGKILL, died.stdout
    assert not (folder / "broken").exists()
    again = run(folder, mlm_encoder, formulation, "broken")
    assert again.returncode == 0, again.stdout
    assert re.findall(r"going on after iteration (\d)", again.stdout) == ([str(after)] if after else [])
    weights, history = unbroken[formulation]
    assert (folder / "broken" / "model.safetensors").read_bytes() == weights.read_bytes()
    assert timeless((folder / "broken.tsv").read_text()) == timeless(history)
    assert not list(folder.rglob("*.part"))


def half(mlm_encoder, examples, validation, folder, key="key", monkeypatch=None):
    """A run of one iteration of three, with its state left behind."""
    model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), State(folder, key)
    with monkeypatch.context() as patched:
        patched.setattr("epic.training.train.finished", lambda history, *_: bool(history))
        train(family, model, examples(), validation, settings(), "cross-entropy", 7, state)
    return model


def resumed(mlm_encoder, folder, key="key"):
    model = EpicModel.from_encoder(mlm_encoder, "paper", seed=7)
    learner = Learner.of(family, model, settings(), "cross-entropy")
    return model, learner, State(folder, key).resume(model, learner.optimizer, learner.scaler)


def test_resuming_does_not_train_again_what_was_trained(mlm_encoder, examples, validation, tmp_path, monkeypatch):
    half(mlm_encoder, examples, validation, tmp_path / "state", monkeypatch=monkeypatch)
    model, learner, history = resumed(mlm_encoder, tmp_path / "state")
    assert [iteration.triples for iteration in history] == [8]
    assert {int(value["step"]) for value in learner.optimizer.parts[0].state.values()} == {2}  # 8 triples in batches of 4
    full = train(family, model, examples(), validation, settings(), "cross-entropy", 7, State(tmp_path / "state", "key"))
    assert full[0] == history[0]


def test_a_damaged_state_is_not_used_and_says_so(mlm_encoder, examples, validation, tmp_path, monkeypatch, caplog):
    for name, break_it in (
        ("weights.safetensors", lambda path: path.write_bytes(path.read_bytes()[:-1])),
        ("optimizer.safetensors", lambda path: path.unlink()),
        ("state.json", lambda path: path.write_text("{")),
        ("best", lambda path: next(path.parent.parent.glob("best-*")).unlink()),
    ):
        folder = tmp_path / name
        half(mlm_encoder, examples, validation, folder, monkeypatch=monkeypatch)
        break_it(folder / "key" / "iteration-00001" / name)
        caplog.clear()
        _, _, history = resumed(mlm_encoder, folder)
        assert history == [] and not (folder / "key").exists()
        assert "cannot be used" in caplog.text


def test_a_number_of_the_history_cannot_change_unseen(mlm_encoder, examples, validation, tmp_path, monkeypatch, caplog):
    half(mlm_encoder, examples, validation, tmp_path, monkeypatch=monkeypatch)
    path = tmp_path / "key" / "iteration-00001" / "state.json"
    facts = json.loads(path.read_text())
    facts["history"][0][4] = 0.9  # as good as no later one will be
    path.write_text(json.dumps(facts))
    assert resumed(mlm_encoder, tmp_path)[2] == [] and "state.json is damaged" in caplog.text


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("write_tensors", 4),
        ("write_tensors", 5),
        ("write_tensors", 6),
        ("write_json", 2),
        ("sync", 5),
        ("sync", 6),
    ],
)
def test_a_full_disk_while_training_is_said_and_training_goes_on_to_the_same_weights(
    mlm_encoder, examples, validation, tmp_path, monkeypatch, place, number
):
    module = files if place == "sync" else resume
    real, calls = getattr(module, place), []

    def full(*arguments):
        calls.append(place)
        if len(calls) == number:
            raise FULL[place]
        return real(*arguments)

    def trained(folder):
        model = EpicModel.from_encoder(mlm_encoder, "paper", seed=7)
        state = State(folder, "key")
        return train(family, model, examples(), validation, settings(patience=9), "cross-entropy", 7, state), model.state_dict()

    monkeypatch.setattr(resume, "best_of", lambda history: history[-1])  # each validation writes both
    monkeypatch.setattr("epic.training.train.best_of", lambda history: history[-1])
    with monkeypatch.context() as patched:
        patched.setattr(module, place, full)
        with pytest.raises(
            InputError, match=r"state of training cannot be saved \(.*No space left .*goes on after iteration"
        ) as said:
            trained(tmp_path / "full")
    went_on = re.search(r"iteration (\d+)$", str(said.value))[1]
    assert max(path.name for path in (tmp_path / "full/key").glob("iteration-*")) == f"iteration-{went_on}"
    history, weights = trained(tmp_path / "full")
    assert len(calls) >= number and not list(tmp_path.rglob("*.part"))
    unbroken, expected = trained(tmp_path / "unbroken")
    assert without_seconds(history) == without_seconds(unbroken)
    assert all(torch.equal(weights[name], expected[name]) for name in expected)


def test_a_run_with_other_settings_starts_over_and_leaves_the_state_alone(
    mlm_encoder, examples, validation, tmp_path, monkeypatch
):
    half(mlm_encoder, examples, validation, tmp_path / "state", monkeypatch=monkeypatch)
    assert resumed(mlm_encoder, tmp_path / "state", "other")[2] == []
    assert len(resumed(mlm_encoder, tmp_path / "state", "key")[2]) == 1
    (tmp_path / "state" / "key").rename(tmp_path / "state" / "other")  # a copy by hand is noticed
    assert resumed(mlm_encoder, tmp_path / "state", "other")[2] == []


def test_only_the_last_state_and_the_best_weights_are_kept(mlm_encoder, tmp_path):
    clock = count(0, OFTEN).__next__
    model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), State(tmp_path / "state", "key", clock)
    learner, history = Learner.of(family, model, settings(), "cross-entropy"), []
    for iteration, value in enumerate((0.2, 0.5, 0.4), start=1):
        with torch.no_grad():
            model.equations.theta1.fill_(value)
        history.append(Iteration(iteration, 8 * iteration, 0.0, 0.0, value, 0.0))
        state.save(history, model, learner.optimizer, learner.scaler)
    assert sorted(path.name for path in (tmp_path / "state" / "key").iterdir()) == ["best-00002.safetensors", "iteration-00003"]
    state.load_best(history, model)
    assert model.equations.theta1[0].item() == pytest.approx(0.5)
    assert "key" in json.loads((tmp_path / "state/key/iteration-00003/state.json").read_text())


class StopError(Exception):
    """The job is killed here."""


class Told(State):
    """A state that knows the value of each validation beforehand."""

    values = ()

    def resume(self, *rest):
        history = super().resume(*rest)
        self.place = len(history)
        return history

    def validate(self, *_):
        self.place += 1
        return self.values[self.place - 1]


@pytest.mark.parametrize(
    ("values", "seconds"),
    [((0.2, 0.1, 0.5), SELDOM), ((0.2, 0.1, 0.5), OFTEN), ((0.3, 0.2, 0.1), SELDOM), ((0.1, 0.2, 0.3), SELDOM)],
)
def test_wherever_saving_is_cut_off_the_run_goes_on_from_whole_files_to_the_same_weights(
    mlm_encoder, examples, validation, tmp_path, monkeypatch, values, seconds
):
    left = [None]  # steps until the job is killed

    def deadly(real):
        def step(*arguments):
            if left[0] == 0:
                raise StopError
            left[0] = left[0] and left[0] - 1
            return real(*arguments)

        return step

    def trained(folder):
        model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), Told(folder, "key", count(0, seconds).__next__)
        state.values = values
        monkeypatch.setattr("epic.training.train.validate", deadly(state.validate))
        history = train(family, model, examples(), validation, settings(patience=9), "cross-entropy", 7, state)
        return without_seconds(history), model.state_dict()

    expected, weights = trained(tmp_path / "unbroken")
    for name in ("write_tensors", "_same", "write_json", "remove", "replacing"):
        monkeypatch.setattr(resume, name, deadly(getattr(resume, name)))
    for steps in count(1):
        left[0], folder = steps, tmp_path / str(steps)
        try:
            trained(folder)
        except StopError:
            left[0] = None
            for saved in (folder / "key").glob("iteration-*"):
                best = json.loads((saved / "state.json").read_text())["history"]
                assert (folder / f"key/best-{max(best, key=lambda line: line[4])[0]:05d}.safetensors").exists()
            history, found = trained(folder)
            assert history == expected and all(torch.equal(found[name], weights[name]) for name in weights)
        else:
            break
    assert steps > 10


def test_between_the_best_and_the_last_a_state_is_saved_every_few_minutes(mlm_encoder, tmp_path):
    now = [0.0]
    model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), State(tmp_path, "key", lambda: now[0])
    learner, history, saved = Learner.of(family, model, settings(), "cross-entropy"), [], []
    for minutes, value, last in [
        (1, 0.5, 0),
        (2, 0.4, 0),
        (5.9, 0.4, 0),
        (6, 0.4, 0),
        (7, 0.4, 0),
        (8, 0.6, 0),
        (9, 0.5, 0),
        (10, 0.5, 1),
    ]:
        now[0] = 60 * minutes
        history.append(Iteration(len(history) + 1, 8 * len(history) + 8, 0.0, 0.0, value, 0.0))
        state.save(history, model, learner.optimizer, learner.scaler, bool(last))
        saved.append(max(path.name for path in (tmp_path / "key").glob("iteration-*")))
    assert [int(name[-5:]) for name in saved] == [1, 1, 1, 4, 4, 6, 6, 8]


def test_the_sums_of_a_state_are_taken_while_it_is_written(mlm_encoder, tmp_path, monkeypatch):
    model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), State(tmp_path, "key", count(0, OFTEN).__next__)
    learner, history = Learner.of(family, model, settings(), "cross-entropy"), []
    with monkeypatch.context() as patched:
        patched.setattr(resume, "sha256_of", lambda path: pytest.fail(f"{path} is read again"))
        for value in (0.5, 0.4):
            history.append(Iteration(len(history) + 1, 8 * len(history) + 8, 0.0, 0.0, value, 0.0))
            state.save(history, model, learner.optimizer, learner.scaler)
    folder = tmp_path / "key" / "iteration-00002"
    sums = json.loads((folder / "state.json").read_text())["sha256"]
    found = {path.name: files.sha256_of(path) for path in folder.glob("*.safetensors")}
    assert sums == found | {"best": files.sha256_of(tmp_path / "key/best-00001.safetensors")} and len(found) == 3


def test_a_disk_without_links_holds_the_best_weights_twice(mlm_encoder, tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    model, state = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), State(tmp_path, "key")
    learner = Learner.of(family, model, settings(), "cross-entropy")
    state.save([Iteration(1, 8, 0.0, 0.0, 0.5, 0.0)], model, learner.optimizer, learner.scaler)
    assert len(resumed(mlm_encoder, tmp_path)[2]) == 1


def test_a_damaged_later_state_is_removed_once_a_new_one_is_there(mlm_encoder, examples, validation, tmp_path, monkeypatch):
    half(mlm_encoder, examples, validation, tmp_path, monkeypatch=monkeypatch)
    (tmp_path / "key" / "iteration-00007").mkdir()  # of a run that was cut off long ago
    model, learner, history = resumed(mlm_encoder, tmp_path)
    State(tmp_path, "key").save(
        [*history, history[0]._replace(iteration=2, validation=1.5)], model, learner.optimizer, learner.scaler
    )
    assert sorted(path.name for path in (tmp_path / "key").iterdir()) == ["best-00002.safetensors", "iteration-00002"]


def test_the_key_follows_settings_and_the_bytes_of_files_and_folders(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    paths = [tmp_path / "folder", tmp_path / "b"]
    key = key_of({"x": 1}, paths)
    assert key == key_of({"x": 1}, paths) != key_of({"x": 2}, paths)
    shutil.copytree(tmp_path, tmp_path.with_name("elsewhere"))
    assert key == key_of({"x": 1}, [tmp_path.with_name("elsewhere") / path.name for path in paths])
    (tmp_path / "folder" / "a").write_text("3")
    assert key != key_of({"x": 1}, paths)


def test_histories_of_a_resumed_run_are_those_of_an_unbroken_one(mlm_encoder, examples, validation, tmp_path, monkeypatch):
    half(mlm_encoder, examples, validation, tmp_path / "state", monkeypatch=monkeypatch)
    ends = []
    for folder in (tmp_path / "state", tmp_path / "fresh"):
        model = EpicModel.from_encoder(mlm_encoder, "paper", seed=7)
        ends.append(train(family, model, examples(), validation, settings(patience=9), "cross-entropy", 7, State(folder, "key")))
    assert without_seconds(ends[0]) == without_seconds(ends[1])
    with pytest.raises(InputError, match=r"best-00009\.safetensors"):
        State(tmp_path / "fresh", "key").load_best([Iteration(9, 9, 0, 0, 1, 0)], model)


def test_the_scale_of_float16_gradients_is_part_of_the_state(mlm_encoder, examples, validation, tmp_path):
    model, half_precision = EpicModel.from_encoder(mlm_encoder, "paper", seed=7), settings(precision="float16")
    learner, history = Learner.of(family, model, half_precision, "cross-entropy"), [Iteration(1, 8, 0.0, 0.0, 0.5, 0.0)]
    learner.learn(examples().between(0, 8), 1)
    learner.scaler.update(1234.0)
    State(tmp_path / "state", "key").save(history, model, learner.optimizer, learner.scaler)
    again = Learner.of(family, EpicModel.from_encoder(mlm_encoder, "paper", seed=7), half_precision, "cross-entropy")
    assert State(tmp_path / "state", "key").resume(again.ranker, again.optimizer, again.scaler) == history
    assert again.scaler.get_scale() == 1234.0 != Learner.of(family, model, half_precision, "cross-entropy").scaler.get_scale()


def test_states_go_once_their_checkpoints_are_there_and_others_stay(tmp_path):
    for model in ("done", "half"):
        (tmp_path / "smoke/state/train" / model / "key").mkdir(parents=True)
    (tmp_path / "smoke/train/done/checkpoint").mkdir(parents=True)
    assert [state.name for state in remove_states(tmp_path)] == ["done"]
    assert (tmp_path / "smoke/state/train/half").exists() and not (tmp_path / "smoke/state/train/done").exists()
    (tmp_path / "smoke/train/half/checkpoint").mkdir(parents=True)
    remove_states(tmp_path)
    assert not (tmp_path / "smoke/state").exists() and remove_states(tmp_path) == []


def test_parts_of_shards_go_once_their_shards_are_there(tmp_path):
    for shard in ("1-of-2", "2-of-2"):
        (tmp_path / "smoke/state/generate/t5/4-1" / shard / "key").mkdir(parents=True)
    (tmp_path / "smoke/state/train/half/key").mkdir(parents=True)
    (tmp_path / "smoke/generate/t5/4-1/2-of-2").mkdir(parents=True)
    assert [state.name for state in remove_states(tmp_path)] == ["2-of-2"]
    (tmp_path / "smoke/generate/t5/4-1/1-of-2").mkdir()
    remove_states(tmp_path)
    assert [path.name for path in (tmp_path / "smoke/state").iterdir()] == ["train"]


def test_parts_of_a_run_go_once_the_run_is_there(tmp_path):
    for name in ("train", "test"):
        (tmp_path / f"smoke/state/retrieve/bm25/{name}.run/key").mkdir(parents=True)
    (tmp_path / "smoke/retrieve/bm25").mkdir(parents=True)
    (tmp_path / "smoke/retrieve/bm25/train.run").write_text("")
    assert [state.name for state in remove_states(tmp_path)] == ["train.run"]
    assert [path.name for path in (tmp_path / "smoke/state/retrieve/bm25").iterdir()] == ["test.run"]
