"""Preflight: what is needed, what was found, what to do."""

import io
import time

import pytest

from epic import preflight
from epic.config import load_experiments
from epic.preflight import Check, Jobs, checks, disk, networks, refusal
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def experiments():
    return load_experiments([ROOT / "workflow" / "experiments"], ROOT / "workflow" / "schemas" / "experiment.schema.yaml")


@pytest.fixture
def probes(monkeypatch):
    """Record which probes are made, without making them."""
    asked = []
    monkeypatch.setattr(preflight, "gpu", lambda: asked.append("gpu") or Check("gpu", "", ""))
    monkeypatch.setattr(preflight, "networks", lambda hosts: asked.extend(hosts) or [])
    monkeypatch.setattr(preflight, "java", lambda: asked.append("java") or Check("java", "", ""))
    monkeypatch.setattr(preflight, "disk", lambda size, folder: asked.append("disk") or Check("disk", "", ""))
    return asked


def test_only_what_the_jobs_need_is_asked_for(experiments, probes, tmp_path):
    checks(experiments["paper"], Jobs({"data", "queries", "encoder", "fetch", "index", "train"}, {0, 1}), tmp_path)
    assert probes == ["gpu", "git.uwaterloo.ca", "huggingface.co", "msmarco.z22.web.core.windows.net", "disk", "java"]
    probes.clear()
    checks(experiments["paper"], Jobs({"evaluate", "table"}, {0}), tmp_path)
    assert probes == []
    checks(experiments["smoke"], Jobs({"data", "queries", "encoder", "index", "train", "latency"}, {0}), tmp_path)
    assert probes == ["disk", "java"]


def test_a_refusal_shows_need_found_remedy_and_the_way_out():
    text = refusal("paper", [Check("GPU", "none", "buy one"), Check("disk", "10 GB", "")])
    assert "need" in text and "GPU" in text and "buy one" in text and "ok" in text and "make smoke" in text
    assert refusal("paper", [Check("disk", "10 GB", "")]) is None
    assert "make smoke" not in refusal("smoke", [Check("GPU", "none", "buy one")])


def test_disk_is_measured_where_results_will_be_and_what_lies_there_counts(tmp_path):
    assert disk(0.000001, tmp_path / "not" / "yet").remedy == ""
    assert "larger disk" in disk(1e9, tmp_path).remedy
    (tmp_path / "shard").write_bytes(b"x" * 3_000_000)
    assert disk(0.005, tmp_path).need == "disk: 0.002 GB free"
    assert disk(0.002, tmp_path).need == "disk: 0 GB free"


def test_hosts_that_do_not_answer_are_waited_for_together(monkeypatch):
    monkeypatch.setattr(preflight, "SECONDS", 0.2)
    monkeypatch.setattr(preflight.socket, "create_connection", lambda *_: time.sleep(1) or io.BytesIO())
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    start = time.monotonic()
    found = networks(["a.invalid", "b.invalid", "c.invalid"])
    assert all("no answer" in check.found and check.remedy for check in found) and len(found) == 3
    assert time.monotonic() - start < 0.6
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    assert not networks(["a.invalid"])[0].remedy
