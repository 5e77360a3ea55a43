"""Conditions: what differs from those of the published values."""

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.conditions import conditions_by_model, other_conditions, row_conditions
from epic.experiment.lookup import find
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE = EXPERIMENTS["smoke"]


def conditions(documents, encoder, family="epic", model="m"):
    models = [{"id": "m", "family": family, "encoder": encoder, "settings": {}}]
    published = {"documents": "msmarco-passage", "field": None, "encoders": {"epic": "bert"}, "settings": {}}
    data = {"documents": documents, "field": None}
    return other_conditions({"data": data, "models": models, "published_on": published}, model)


def test_collection_and_encoder_must_be_the_published_ones():
    assert conditions("msmarco-passage", {"source": "bert"}) == [] == conditions("msmarco-passage", {"source": "x"}, model=None)
    assert conditions("path:tiny", None, model=None) == ["collection"]
    assert conditions("path:tiny", {"source": "minilm"}) == ["collection", "encoder"]


def test_a_family_of_which_no_encoder_is_known_is_comparable_only_without_one():
    assert conditions("msmarco-passage", {"source": "minilm"}, family="other") == ["encoder"]
    assert conditions("msmarco-passage", None, family="other") == []


def test_smoke_differs_in_both_and_a_row_without_a_model_in_the_collection():
    both = {model: ["collection", "encoder"] for model in (None, "paper", "released", "cross")}
    words = {"tk": ["collection", "vectors"], "duet": ["collection", "members", "vocabulary", "idf", "vectors"]}
    assert conditions_by_model(SMOKE) == both | words
    assert row_conditions(SMOKE, find(SMOKE["rows"], "bm25")) == ["collection"]
    assert row_conditions(SMOKE, find(SMOKE["rows"], "deepct")) == ["collection", "weighter"]


def test_on_the_published_passages_other_word_vectors_or_fewer_members_are_not_the_published_model():
    paper = EXPERIMENTS["paper"]
    tk, duet = (find(paper["models"], name) for name in ("tk1", "duet"))
    at_random = tk | {"settings": tk["settings"] | {"words": tk["settings"]["words"] | {"vectors": None}}}
    deeper = tk | {"id": "deeper", "settings": tk["settings"] | {"layers": 2}}
    two = duet | {"settings": duet["settings"] | {"members": 2}}
    models = {model["id"]: model for model in (at_random, deeper, two)}
    settings = paper | {"models": list(models.values())}
    found = {name: other_conditions(settings, name) for name in models}
    assert found == {"tk1": ["vectors"], "deeper": [], "duet": ["members"]}


def test_texts_that_another_model_wrote_are_not_the_published_ones_whatever_re_ranks_them():
    paper, deepct = EXPERIMENTS["paper"], find(SMOKE["weighters"], "deepct")
    generator = {"id": "ours", "source": "path:t5", "revision": None, "sha256": None}
    stages = [
        find(paper["first_stages"], "bm25"),
        find(paper["first_stages"], "deepct") | {"weighted_text": {"model": "deepct"}},
        find(paper["first_stages"], "doctttttquery") | {"predicted_queries": {"generate": "ours", "samples": 5, "seed": 1}},
    ]
    changed = {"first_stages": stages, "weighters": [deepct], "generators": [generator]}
    rows = ("bm25", "deepct", "doctttttquery", "epic-doctttttquery-r100")

    def differ(more):
        return [row_conditions(paper | changed | more, find(paper["rows"], name)) for name in rows]

    assert differ({}) == [[], ["weighter"], ["generator"], ["generator"]]
    theirs = {
        "weighters": [deepct | {"encoder": {"source": "google-bert/bert-base-uncased"}}],
        "generators": [generator | {"source": "castorini/doc2query-t5-base-msmarco"}],
    }
    assert differ(theirs) == [[]] * 4


@pytest.mark.parametrize("name", ["paper", "quick", "quick-bm25"])
def test_every_model_of_the_paper_has_the_conditions_of_its_published_values(name):
    """Otherwise its rows would never get a verdict."""
    settings = EXPERIMENTS[name]
    assert conditions_by_model(settings) == {model: [] for model in (None, *(model["id"] for model in settings["models"]))}


def test_without_a_model_the_collection_still_counts():
    bare = SMOKE | {"rows": [row for row in SMOKE["rows"] if row["kind"] != "model"]}
    assert conditions_by_model(bare) == {None: ["collection"]}


def test_values_of_another_collection_have_conditions_of_their_own_and_a_first_stage_among_them():
    settings, row = EXPERIMENTS["quick-bm25"], {"first_stage": "bm25", "model": "authors"}
    elsewhere = {"documents": "cord19/trec-covid", "field": "abstract", "first_stage": "bm25", "encoders": {}}
    elsewhere |= {"encoders": {"epic": "google-bert/bert-base-uncased"}}
    data = {"documents": "cord19/trec-covid", "field": "abstract", "count": 1}

    def differ(found, **other):
        return row_conditions(settings | {"data": found}, row | {"published_on": elsewhere | other})

    assert differ(data) == [] and row_conditions(settings, row | {"published_on": elsewhere}) == ["collection"]
    assert row_conditions(settings | {"data": data}, row) == ["collection"]
    assert differ(data | {"field": None}) == ["field"] and differ(data | {"field": "title"}, encoders={}) == ["field", "encoder"]
    assert differ(data, first_stage="dph") == ["first stage"]
