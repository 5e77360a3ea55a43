"""What an experiment may say of the time: models for published runs, and fewer queries for slow models."""

import pytest
import yaml

from epic.core.files import InputError
from epic.experiment import lookup
from epic.experiment.check import PUBLISHED, SCHEMA, load_experiment, read_published
from epic.experiment.timing_checks import timing_problems
from tests.conftest import ROOT

SMOKE = ROOT / "workflow" / "experiments" / "smoke.yaml"
SLOW = {
    "id": "slow", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "encoder": None, "start": None, "loss": None,
    "seed": 1, "prefix": "slow", "label": "Slow", "group": "Other re-ranking", "tolerance": None,
}  # fmt: skip
TIMED = {"model": "slow", "first_stage": "bm25", "hits": 1000}


def loaded(folder, row="bert-large", timed=TIMED, latency=None):
    settings = yaml.safe_load(SMOKE.read_text())
    settings["models"].append(SLOW | ({"latency": latency} if latency else {}))
    next(found for found in settings["rows"] if found.get("id") == row)["timed"] = timed
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings))
    return load_experiment(folder / "mine.yaml", yaml.safe_load(SCHEMA.read_text()), read_published(PUBLISHED))


def test_a_published_run_may_name_the_model_that_it_is_timed_with_and_its_row_tells(tmp_path):
    settings = loaded(tmp_path, latency={"warm_up": 2, "measured": 6})  # as many as all others: no fewer, no more
    assert list(timing_problems(settings)) == []
    row = lookup.find(settings["rows"], "bert-large")
    told = lookup.row_settings(settings, row)["timed"]
    assert told["hits"] == 1000 and told["first_stage"]["k1"] == 0.9 and told["model"]["family"] == "tests.fake_ranker"
    assert "latency" not in told["model"]  # how long it is timed changes no weight
    assert lookup.systems(settings).keys() == {"paper", "released", "tk", "duet", "cross"}  # slow is no system of its own


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timed": TIMED | {"hits": 1001}}, r"rows\.bert-large\.timed\.hits: 1001 is greater than the maximum of 1000"),
        ({"timed": {"model": "slow", "hits": 9}}, r"rows\.bert-large\.timed: 'first_stage' is a required property"),
        ({"timed": TIMED | {"model": "nope"}}, r"rows\.bert-large\.timed\.model: no nope in models; there are paper, released, tk, duet, cross, slow"),
        ({"timed": TIMED | {"first_stage": "bm26"}}, r"rows\.bert-large\.timed\.first_stage: no bm26 in first_stages; there are bm25"),
        ({"timed": TIMED | {"model": "paper"}}, r"timed\.model: paper reads vectors that were made beforehand, .*; name a model that"),
        ({"row": "tk-1"}, r"rows\.tk-1\.timed: a row of the kind model has no timed: only a published run"),
        ({"row": "bm25"}, r"rows\.bm25\.timed: a row of the kind first-stage has no timed: only a published run"),
        ({"row": "tk-3"}, r"rows\.tk-3\.timed: a row of the kind published-only has no timed"),
        ({"latency": {"warm_up": 3, "measured": 6}}, r"models\.slow\.latency\.warm_up: 3 is more than latency\.warm_up \(2\)"),
        ({"latency": {"warm_up": 0, "measured": 7}}, r"models\.slow\.latency\.measured: 7 is more than latency\.measured \(6\)"),
        ({"latency": {"measured": 1}}, r"models\.slow\.latency: 'warm_up' is a required property"),
        ({"latency": {"warm_up": 0, "measured": 0}}, r"models\.slow\.latency\.measured: 0 is less than the minimum of 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_timed_is_refused_with_the_line(tmp_path, change, message):
    with pytest.raises(InputError, match=r"mine\.yaml line \d+: .*" + message):
        loaded(tmp_path, **change)
