"""Conditions: what differs from those of the published values."""

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.conditions import conditions_by_model, other_conditions, row_conditions
from epic.experiment.lookup import find
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE = EXPERIMENTS["smoke"]


def conditions(documents, encoder, family="epic", model="m"):
    models = [{"id": "m", "family": family, "encoder": encoder}]
    published = {"documents": "msmarco-passage", "encoders": {"epic": "bert"}}
    return other_conditions({"data": {"documents": documents}, "models": models, "published_on": published}, model)


def test_collection_and_encoder_must_be_the_published_ones():
    assert conditions("msmarco-passage", {"source": "bert"}) == [] == conditions("msmarco-passage", {"source": "x"}, model=None)
    assert conditions("path:tiny", None, model=None) == ["collection"]
    assert conditions("path:tiny", {"source": "minilm"}) == ["collection", "encoder"]


def test_a_family_of_which_no_encoder_is_known_is_comparable_only_without_one():
    assert conditions("msmarco-passage", {"source": "minilm"}, family="other") == ["encoder"]
    assert conditions("msmarco-passage", None, family="other") == []


def test_smoke_differs_in_both_and_a_row_without_a_model_in_the_collection():
    differ = {None: 2, "paper": 2, "released": 2, "cross": 2, "tk": 1, "duet": 1}  # TK and Duet have no encoder
    assert conditions_by_model(SMOKE) == {model: ["collection", "encoder"][:count] for model, count in differ.items()}
    assert row_conditions(SMOKE, find(SMOKE["rows"], "bm25")) == ["collection"]


@pytest.mark.parametrize("name", ["paper", "quick", "quick-bm25"])
def test_every_model_of_the_paper_has_the_conditions_of_its_published_values(name):
    """Otherwise its rows would never get a verdict."""
    settings = EXPERIMENTS[name]
    assert conditions_by_model(settings) == {model: [] for model in (None, *(model["id"] for model in settings["models"]))}


def test_without_a_model_the_collection_still_counts():
    bare = SMOKE | {"rows": [row for row in SMOKE["rows"] if row["kind"] != "model"]}
    assert conditions_by_model(bare) == {None: ["collection"]}
