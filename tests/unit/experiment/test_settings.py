"""Settings of stages: the keys of the schema, taken as they are."""

import dataclasses

import pytest
import yaml

from epic.experiment.check import SCHEMA, load_experiments
from epic.experiment.settings import EncodeSettings, TrainSettings
from tests.conftest import ROOT

OTHERS = ("shards", "passages")  # of `encode`: they change no vector


@pytest.mark.parametrize(("settings", "key"), [(TrainSettings, "train"), (EncodeSettings, "encode")])
def test_dataclasses_and_schema_name_the_same_keys(settings, key):
    schema = yaml.safe_load(SCHEMA.read_text())
    part = schema["$defs"]["training"] if key == "train" else schema["properties"][key]
    assert {field.name for field in dataclasses.fields(settings)} == set(part["properties"]) - {*OTHERS}


def test_what_may_be_left_out_of_training_is_none_and_the_schema_requires_all_else():
    optional = {field.name for field in dataclasses.fields(TrainSettings) if field.default is None}
    assert optional == {"schedule", "weight_decay", "clip", "halve_after"}
    required = yaml.safe_load(SCHEMA.read_text())["properties"]["train"]["required"]
    assert {field.name for field in dataclasses.fields(TrainSettings)} - optional == set(required)


@pytest.mark.parametrize("name", ["paper", "smoke", "mini"])
def test_the_settings_of_every_experiment_are_taken_as_they_are_and_stay_so(name):
    found = load_experiments([ROOT / "workflow" / "experiments"])[name]
    train = TrainSettings(**found["train"])
    encode = EncodeSettings(**{key: value for key, value in found["encode"].items() if key not in OTHERS})
    assert {
        key: value for key, value in dataclasses.asdict(train).items() if value is not None or key in found["train"]
    } == found["train"]
    assert dataclasses.asdict(encode) | {key: found["encode"][key] for key in OTHERS} == found["encode"]
    for settings, key in ((train, "batch_size"), (encode, "keep")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(settings, key, 1)


def test_a_setting_that_is_missing_or_unknown_is_refused():
    with pytest.raises(TypeError, match="vocabulary_block"):
        EncodeSettings(keep=[1], token_budget=1)
    with pytest.raises(TypeError, match="shards"):
        EncodeSettings(keep=[1], token_budget=1, vocabulary_block=1, shards=2)
