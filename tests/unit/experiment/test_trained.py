"""Training and cut-offs as a model has them: its own settings, and those of all models."""

from epic.experiment import lookup, trained
from epic.experiment.check import load_experiments
from tests.conftest import ROOT

SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


def test_a_model_may_be_trained_and_tuned_in_its_own_way():
    own = {"train": {"batch_size": 64, "validate_every": 640, "schedule": {"warm_up": 1, "steps": 9}}, "tune": {"max_cutoff": 30}}
    settings = SMOKE | {"models": [SMOKE["models"][0], SMOKE["models"][1] | own]}
    assert set(trained.trained_on(SMOKE)) == {"data", "triples"}
    assert trained.train_of(settings, "paper") == SMOKE["train"] and trained.max_cutoff(settings, "paper") == 200
    assert trained.train_of(settings, "released") == SMOKE["train"] | own["train"]
    assert trained.min_cutoff(settings, "released") == 1
    fixed = settings | {"tune": {"max_cutoff": 200, "min_cutoff": 200}}
    assert (trained.min_cutoff(fixed, "paper"), trained.max_cutoff(fixed, "paper")) == (200, 200)
    assert trained.max_cutoff(settings, "released") == 30 and trained.triples_of(settings, "released") == 2 * 640
    assert "validation_token_budget" not in trained.watched_training(settings, "released")
    assert lookup.training_of(settings["models"][1]) == lookup.training_of(SMOKE["models"][1])  # `train` is a param of its own
    assert trained.training_setting("batch_size")(settings, "released") == 64


def test_members_are_trained_on_triples_of_their_own():
    ensemble = SMOKE["models"][1] | {"settings": SMOKE["models"][1]["settings"] | {"members": 8}}
    settings = SMOKE | {"models": [SMOKE["models"][0], ensemble]}
    assert trained.triples_of(settings, ensemble["id"]) == 8 * 2 * 192
