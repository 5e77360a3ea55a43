"""Preflight: what is needed, what was found, what to do."""

import time

import pytest

from epic import preflight
from epic.config import load_experiments
from epic.preflight import Check, checks, disk, network, refusal
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def experiments():
    return load_experiments([ROOT / "workflow" / "experiments"], ROOT / "workflow" / "schemas" / "experiment.schema.yaml")


@pytest.fixture
def probes(monkeypatch):
    """Record which probes are made, without making them."""
    asked = []
    monkeypatch.setattr(preflight, "gpu", lambda: asked.append("gpu") or Check("gpu", "", ""))
    monkeypatch.setattr(preflight, "network", lambda host: asked.append(host) or Check(host, "", ""))
    monkeypatch.setattr(preflight, "java", lambda: asked.append("java") or Check("java", "", ""))
    monkeypatch.setattr(preflight, "disk", lambda size, folder: asked.append("disk") or Check("disk", "", ""))
    return asked


def test_only_what_the_jobs_need_is_asked_for(experiments, probes, tmp_path):
    checks(experiments["paper"], {"data", "queries", "encoder", "fetch", "index", "train"}, tmp_path)
    assert probes == ["gpu", "git.uwaterloo.ca", "huggingface.co", "msmarco.z22.web.core.windows.net", "disk", "java"]
    probes.clear()
    checks(experiments["paper"], {"evaluate", "table"}, tmp_path)
    assert probes == []
    checks(experiments["smoke"], {"data", "queries", "encoder", "index", "train", "latency"}, tmp_path)
    assert probes == ["disk", "java"]


def test_a_refusal_shows_need_found_remedy_and_the_way_out():
    text = refusal("paper", [Check("GPU", "none", "buy one"), Check("disk", "10 GB", "")])
    assert "need" in text and "GPU" in text and "buy one" in text and "ok" in text and "make smoke" in text
    assert refusal("paper", [Check("disk", "10 GB", "")]) is None
    assert "make smoke" not in refusal("smoke", [Check("GPU", "none", "buy one")])


def test_disk_is_measured_where_results_will_be(tmp_path):
    assert disk(0.000001, tmp_path / "not" / "yet").remedy == ""
    assert "larger disk" in disk(1e9, tmp_path).remedy


def test_a_host_that_does_not_exist_is_not_waited_for():
    start = time.monotonic()
    assert network("no-such-host.invalid").remedy
    assert time.monotonic() - start < 2 * preflight.SECONDS
