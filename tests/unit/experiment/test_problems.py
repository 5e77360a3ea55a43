"""Rules that a schema cannot state, one by one; tests of `check` write them into files, where each is named with its line."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.problems import problems
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_our_own_experiments_have_none(name):
    assert list(problems(EXPERIMENTS[name])) == []


@pytest.mark.parametrize(
    ("own", "place", "message"),
    [
        ({"train": {"batch_size": 5}}, ("train", "validate_every"), "192 is no multiple of batch_size (5)"),
        ({"train": {"validation_first_stage": "x"}}, ("train", "validation_first_stage"), "no x in first_stages"),
        ({"train": {"max_validations": 10**6}}, ("train", "max_validations"), "192000000 triples"),
        ({"tune": {"max_cutoff": 201}}, ("tune", "max_cutoff"), "201 is more than the hits of validation (200)"),
    ],
)
def test_the_settings_of_a_model_s_own_are_checked_where_they_stand(own, place, message):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["models"][1] |= own
    ((found, said), *_) = problems(settings)
    assert found == ("models", 1, *place) and said.startswith(message)


@pytest.mark.parametrize(
    ("revision", "refused"), [(None, True), ("main", True), ("7012b9bf7aa900a5d74615ff0824f8ceed09e723", False)]
)
def test_an_encoder_without_a_sha256_needs_a_commit_that_pins_it(revision, refused):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["models"][0]["encoder"] |= {"sha256": None, "revision": revision}
    found = list(problems(settings))
    assert bool(found) == refused
    if refused:
        assert found[0] == (
            ("models", 0, "encoder", "sha256"),
            "null is for a Hugging Face name that a revision, a commit of 40 digits, pins; write the sha256",
        )
