"""Digests of stages, by model where a family's code is used."""

import pytest

from epic.core.files import InputError
from epic.experiment.check import load_experiments
from epic.experiment.digests import all_digests, digest_of
from epic.experiment.families import MEMBERS
from tests.conftest import ROOT

SCRIPTS = ROOT / "workflow" / "scripts"
SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


def test_a_stage_depends_on_the_family_of_its_model():
    plain, epic = digest_of(SCRIPTS, SMOKE, "rerank", None), digest_of(SCRIPTS, SMOKE, "rerank", "paper")
    other = SMOKE | {"models": [SMOKE["models"][0] | {"family": "tests.fake_ranker"}]}
    assert len({plain, epic, digest_of(SCRIPTS, other, "rerank", "paper")}) == 3
    with pytest.raises(InputError, match="there is no model nope; there are paper, released"):
        digest_of(SCRIPTS, SMOKE, "rerank", "nope")


def test_all_of_them_are_recorded_by_script_and_by_model():
    found = all_digests(SCRIPTS, SMOKE)
    assert {path.stem for path in SCRIPTS.glob("*.py")} | {
        f"{stage} {model}" for stage in MEMBERS for model in ("paper", "released", "tk", "duet", "cross")
    } == set(found)
    assert found["train paper"] == found["train released"] != found["train"]
    assert len({found[f"train {model}"] for model in ("paper", "tk", "duet", "cross")}) == 4  # one for each family
