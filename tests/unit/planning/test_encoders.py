"""Sizes against config.json of what is on this machine, before any job."""

import copy
import json
import shutil

import pytest

from epic.experiment.check import load_experiments
from epic.planning.encoders import config_here, misfits
from epic.planning.estimates import Job
from tests.conftest import ROOT

TRAIN, REGRESS = Job("train", {"model": "cross"}), Job("regress", {"weighter": "deepct"})
GENERATE = Job("generate", {"generator": "t5", "samples": "5", "seed": "1", "scatteritem": "1-of-2"})
HUB = "0123456789" * 4


@pytest.fixture(scope="module")
def smoke():
    return load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


@pytest.fixture
def settings(smoke, tiny_encoder):
    """Smoke with an encoder of 16 positions."""
    found = copy.deepcopy(smoke)
    for user in (*found["models"], *found["weighters"]):
        if user["encoder"]:
            user["encoder"] |= {"source": f"path:{tiny_encoder}"}
    generator = {"id": "t5", "revision": None, "sha256": None, "top_k": 3, "max_input": 64, "max_output": 8, "batch": 1}
    return found | {"generators": [generator | {"source": f"path:{tiny_encoder}", "precision": "float32"}]}


def said(settings, *jobs):
    return [(check.need, check.found, check.remedy) for check in misfits(settings, list(jobs))]


def test_what_does_not_fit_is_a_need_that_is_not_met(settings, tiny_encoder):
    source = f"path:{tiny_encoder}"
    assert said(settings, TRAIN, REGRESS, GENERATE, GENERATE) == [
        (
            f"model cross, settings.total_pieces: sizes that fit {source}",
            "160 word-pieces are more than the 16 positions of the encoder",
            "lower it",
        ),
        (
            f"weighter deepct, max_pieces: sizes that fit {source}",
            "64 word-pieces are more than the encoder's 16 positions",
            "lower it",
        ),
        (f"generator t5: sizes that fit {source}", "it reads at most 16 tokens, the generator's max_input is 64", "lower it"),
    ]


def test_what_fits_is_none_and_other_jobs_are_not_looked_at(settings, smoke):
    assert said(smoke, TRAIN, REGRESS) == []
    assert said(settings, Job("train", {"model": "tk"}), Job("train", {"model": "paper"}), Job("rerank", {"row": "x"})) == []


def test_an_encoder_of_one_segment_is_seen(settings, tiny_encoder, tmp_path):
    folder = shutil.copytree(tiny_encoder, tmp_path / "one")
    config = json.loads((folder / "config.json").read_text()) | {"type_vocab_size": 1, "max_position_embeddings": 512}
    (folder / "config.json").write_text(json.dumps(config))
    for model in settings["models"]:
        model["encoder"] = model["encoder"] and model["encoder"] | {"source": f"path:{folder}"}
    ((need, found, remedy),) = said(settings, TRAIN)
    assert need.startswith("model cross, encoder") and "the encoder has 1 (type_vocab_size)" in found
    assert remedy == "name another encoder"


def test_what_is_not_here_yet_or_damaged_is_left_to_the_jobs(settings, tiny_encoder, tmp_path, monkeypatch):
    for source in ("path:not/here", f"path:{tmp_path}", "pypi:no-such-encoder==1.0"):
        assert config_here(source, None) == {}
    (tmp_path / "config.json").write_text("[]")
    assert config_here(f"path:{tmp_path}", None) == {}
    cached = {}
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda repo, name, revision: cached.get((repo, name, revision)))
    assert config_here("a/bert", HUB) == {}
    cached["a/bert", "config.json", HUB] = str(tiny_encoder / "config.json")
    assert config_here("a/bert", HUB)["max_position_embeddings"] == 16
    settings["weighters"][0]["encoder"] |= {"source": "a/bert", "revision": HUB}
    assert len(said(settings, REGRESS)) == 1
