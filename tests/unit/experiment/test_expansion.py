"""Expansion: rows as products, comparisons as rules, encoders and published values by name."""

from pathlib import Path

import pytest

from epic.experiment.check import PUBLISHED, load_experiments, read_published
from epic.experiment.expansion import ExperimentError, as_yaml, expand
from epic.experiment.yaml_lines import Written, read_yaml
from tests.conftest import ROOT

GOLDEN = Path(__file__).parent / "golden"
MODELS = [
    {"id": "one", "encoder": "e", "prefix": "o", "label": "One", "tolerance": 0.5},
    {"id": "two", "encoder": None, "prefix": "t", "label": "Two", "tolerance": None},
]
STAGES = [{"id": "bm25", "label": "BM25"}, {"id": "other", "label": "Other"}]
ROW = {
    "id": "{model.prefix}-{first_stage}-{keep}",
    "label": "{model.label} + {first_stage.label}{pruned}",
    "kind": "model",
    "published": [],
}
VALUES = {
    "conditions": {"documents": "d", "encoders": {}},
    "conditions_of": {"elsewhere": {"documents": "e", "first_stage": "dph"}},
    "rows": {
        "known": [
            {"source": "paper", "query_set": "dev", "metric": "RR@10", "value": 0.3},
            {"source": "paper", "query_set": "latency", "metric": "ms/query", "value": 21},
        ],
        "elsewhere": [{"source": "notebook", "query_set": "covid", "metric": "RR", "value": 0.8}],
    },
}


def expanded(**said):
    said = {
        "encoders": [{"id": "e", "source": "s"}],
        "models": MODELS,
        "first_stages": STAGES,
        "rows": [],
        "comparisons": [],
    } | said
    return expand(Written(Path("mine.yaml"), said, {(): 1}), VALUES)


@pytest.mark.parametrize("name", ["paper", "smoke", "mini", "mini-seeds"])
def test_the_experiments_have_the_rows_and_pairs_that_were_once_written_out(name):
    settings = load_experiments([ROOT / "workflow" / "experiments"])[name]
    lines = [f"row {row['id']} | {row['label']} | {row['group']}" for row in settings["rows"]]
    for family in settings["comparisons"]:
        lines.append(f"family {family['mark']} margin {family['margin']}")
        lines += ["  {} : {}".format(*pair) for pair in family["pairs"]]
    assert lines == (GOLDEN / f"{name}.txt").read_text().splitlines()


def test_a_product_varies_its_last_key_fastest_and_fills_in_texts():
    found = expanded(rows=[ROW | {"for": {"model": ["one", "two"], "first_stage": ["bm25"], "keep": ["full", 10]}}]).settings[
        "rows"
    ]
    assert [row["id"] for row in found] == ["o-bm25-full", "o-bm25-r10", "t-bm25-full", "t-bm25-r10"]
    assert [row["label"] for row in found][:2] == ["One + BM25", "One + BM25, pruned r=10"]
    assert [(row["model"], row["first_stage"], row["keep"]) for row in found][3] == ("two", "bm25", 10)
    assert "for" not in found[0]


def test_a_row_without_a_product_stays_as_it_is():
    row = {"id": "bm25", "label": "{not a field}", "published": []}
    assert expanded(rows=[row]).settings["rows"] == [row]


@pytest.mark.parametrize(("key", "there"), [("model", "one, two"), ("first_stage", "bm25, other")])
def test_a_row_that_names_what_is_not_there_is_refused_before_a_rule_that_needs_it(key, there):
    """Otherwise a slip in a row would be told as a rule that fits no pair."""
    stage = {"id": "bm25", "kind": "first-stage", "first_stage": "bm25", "published": []}
    system = {"id": "o", "kind": "model", "model": "one", "first_stage": "bm25", "published": []}
    rule = {"mark": "a", "system": {"model": "one"}, "baseline": "own-first-stage"}
    assert expanded(rows=[stage, system], comparisons=[rule]).settings["comparisons"][0]["pairs"] == [["o", "bm25"]]
    with pytest.raises(ExperimentError, match=f"^no x in {key}s; there are {there}$") as error:
        expanded(rows=[stage, system | {key: "x"}], comparisons=[rule])
    assert error.value.place == ("rows", 1, key)


def test_encoders_stand_in_place_of_their_ids():
    found = expanded()
    assert [model["encoder"] for model in found.settings["models"]] == [{"id": "e", "source": "s"}, None]
    assert "encoders" not in found.settings
    assert found.written_at(("models", 0, "encoder", "sha256")) == ("encoders", 0, "sha256")
    assert found.written_at(("models", 1, "encoder")) == ("models", 1, "encoder")


def test_weighters_are_none_or_have_encoders_that_count_as_used():
    assert expanded().settings["weighters"] == []
    encoders = [{"id": "e", "source": "s"}, {"id": "own", "source": "t"}]
    found = expanded(encoders=encoders, weighters=[{"id": "w", "encoder": "own"}])
    assert found.settings["weighters"] == [{"id": "w", "encoder": encoders[1]}]
    assert found.written_at(("weighters", 0, "encoder", "sha256")) == ("encoders", 1, "sha256")
    with pytest.raises(ExperimentError, match="no model has this encoder, and no weighter; leave it out"):
        expanded(encoders=encoders)
    with pytest.raises(ExperimentError, match="no x in encoders; there are e") as error:
        expanded(weighters=[{"id": "w", "encoder": "x"}])
    assert error.value.place == ("weighters", 0, "encoder")


def test_published_values_get_the_tolerance_of_the_row_or_of_their_source_and_milliseconds_none():
    row = {"id": "r", "published": "known", "tolerance": 0.01}
    (found,) = expanded(rows=[row]).settings["rows"]
    assert [entry["tolerance"] for entry in found["published"]] == [0.01, None] and "tolerance" not in found
    (by_source,) = expanded(rows=[row | {"tolerance": {"paper": 0.2}}]).settings["rows"]
    assert by_source["published"][0]["tolerance"] == 0.2
    product = ROW | {
        "for": {"model": ["one"], "first_stage": ["bm25"], "keep": [5]},
        "published": "known",
        "tolerance": "{model.tolerance}",
    }
    assert expanded(rows=[product]).settings["rows"][0]["published"][0]["tolerance"] == 0.5  # a number, not a text
    with pytest.raises(ExperimentError, match="there is none for the value of paper in known"):
        expanded(rows=[row | {"tolerance": None}])


def test_of_a_product_some_may_be_unpublished_but_not_all():
    product = ROW | {"for": {"model": ["one"], "first_stage": ["bm25", "other"], "keep": [5]}, "tolerance": 0.1}
    values = VALUES | {"rows": {"x-bm25": VALUES["rows"]["known"]}}
    said = {"models": MODELS, "encoders": [{"id": "e"}], "first_stages": STAGES}
    found = expand(Written(Path("m"), said | {"rows": [product | {"published": "x-{first_stage}"}]}, {(): 1}), values).settings[
        "rows"
    ]
    assert [len(row["published"]) for row in found] == [2, 0]
    with pytest.raises(ExperimentError, match=r"published\.yaml has no y-bm25"):
        expanded(rows=[product | {"published": "y-{first_stage}"}])


ROWS = [
    {"id": "bm25", "kind": "first-stage", "first_stage": "bm25", "published": []},
    ROW | {"for": {"model": ["one", "two"], "first_stage": ["bm25"], "keep": ["full", 10]}},
]


@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        ({"each": "model", "system": {}, "baseline": "own-first-stage"}, [[["o-bm25-full", "bm25"], ["o-bm25-r10", "bm25"]], [["t-bm25-full", "bm25"], ["t-bm25-r10", "bm25"]]]),
        ({"system": {"keep": 10}, "baseline": {"keep": "full"}}, [[["o-bm25-r10", "o-bm25-full"], ["t-bm25-r10", "t-bm25-full"]]]),
        ({"system": {"model": "two"}, "baseline": {"model": "one"}}, [[["t-bm25-full", "o-bm25-full"], ["t-bm25-r10", "o-bm25-r10"]]]),
        ({"system": {"model": ["one"], "keep": ["full", 10]}, "baseline": ["bm25"]}, [[["o-bm25-full", "bm25"], ["o-bm25-r10", "bm25"]]]),
    ],
)  # fmt: skip
def test_a_rule_names_its_pairs(rule, pairs):
    found = expanded(rows=ROWS, comparisons=[rule | {"mark": "a", "says": "x", "margin": None}])
    assert [family["pairs"] for family in found.settings["comparisons"]] == pairs
    assert all(family.keys() == {"mark", "says", "margin", "pairs"} for family in found.settings["comparisons"])


def test_a_rule_for_each_model_says_of_which():
    rule = {"each": "model", "system": {"keep": 10}, "baseline": {"keep": "full"}, "says": "{model.label}, pruned"}
    assert [family["says"] for family in expanded(rows=ROWS, comparisons=[rule]).settings["comparisons"]] == [
        "One, pruned",
        "Two, pruned",
    ]


def test_places_lead_back_to_what_was_written():
    rule = {"each": "model", "system": {"keep": 10}, "baseline": {"keep": "full"}}
    found = expanded(rows=ROWS, comparisons=[rule])
    assert found.written_at(("rows", 3, "label")) == ("rows", 1, "label")
    assert found.written_at(("rows", 3, "keep")) == ("rows", 1, "for", "keep")
    assert found.written_at(("comparisons", 1, "margin")) == ("comparisons", 0, "margin")
    assert found.written_at(("train", "patience")) == ("train", "patience")


def test_the_expansion_is_written_in_full_without_anchors_and_reads_back_as_itself(tmp_path):
    settings = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]
    (tmp_path / "experiment.yaml").write_text(as_yaml(settings))
    assert read_yaml(tmp_path / "experiment.yaml").value == settings and as_yaml(settings).startswith(
        "# An experiment as it is run"
    )


def test_every_published_value_has_a_source_a_set_a_metric_and_a_value_and_is_used():
    published, experiments = read_published(PUBLISHED), load_experiments([ROOT / "workflow" / "experiments"])
    elsewhere = set(published["conditions_of"])
    assert set(published["rows"]) - elsewhere <= {row["id"] for row in experiments["paper"]["rows"]}
    shown = [entry["value"] for row in experiments["covid-dph"]["rows"] for entry in row["published"]]
    assert shown == [entry["value"] for name in sorted(elsewhere) for entry in published["rows"][name]] and len(shown) == 6
    sources = {entries[0]["source"] for name, entries in published["rows"].items() if name not in elsewhere}
    assert sources == {"paper", "docTTTTTquery repository"}


def test_values_that_were_measured_elsewhere_come_with_their_conditions():
    rows = [{"id": name, "kind": "first-stage", "published": name, "tolerance": 0.01} for name in ("known", "elsewhere")]
    known, elsewhere = expanded(rows=rows).settings["rows"]
    assert "published_on" not in known
    assert elsewhere["published_on"] == {"documents": "e", "first_stage": "dph"} and len(elsewhere["published"]) == 1
