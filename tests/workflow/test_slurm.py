"""The Slurm profile, held sane where there is no Slurm; `make test-slurm` runs it on a cluster."""

import re

import pytest
import yaml

from tests.conftest import ROOT, snakemake
from tests.slurm import cluster
from tests.workflow.test_dryrun import mine

PROFILE = ROOT / "profiles" / "slurm"
SETTINGS = yaml.safe_load((PROFILE / "config.yaml").read_text())
RULES = "\n".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
NAMES = set(re.findall(r"^rule (\w+):", RULES, re.MULTILINE))
LOCAL = {
    name for block in re.findall(r"^localrules:\n((?:    \w+,\n)+)", RULES, re.MULTILINE) for name in re.findall(r"\w+", block)
}


NOT_EVERYWHERE = {"fetch", "boolq", "passages", "discard"}  # rules that only some experiments have
GENERATING, WEIGHING = {"generator", "generate"}, {"recall", "regress", "reweigh"}
LACKING = {
    "smoke": NOT_EVERYWHERE | GENERATING,
    "all": NOT_EVERYWHERE | GENERATING | WEIGHING,
    "results/mine/report.html": NOT_EVERYWHERE | {"experiment", "models"},
}


def generating(settings):
    """Queries are drawn from a model."""
    t5 = {"id": "t5", "source": "castorini/doc2query-t5-base-msmarco", "revision": "0" * 40, "sha256": None, "top_k": 10}
    settings["generators"] = [t5 | {"max_input": 512, "max_output": 64, "batch": 8, "precision": "float32"}]
    settings["first_stages"][1]["predicted_queries"] = {"generate": "t5", "samples": 4, "seed": 1}


@pytest.fixture(scope="module", params=LACKING)
def planned(request, tmp_path_factory):
    """Resources of every job of an experiment on Slurm: (rule, {resource: value})."""
    folder = tmp_path_factory.mktemp("slurm")
    mine(folder, generating)
    run = snakemake(request.param, "--dry-run", "--profile", PROFILE, directory=folder)
    assert run.returncode == 0, run.stdout
    blocks = re.findall(r"^rule (\w+):\n((?:    .*\n)+)", run.stdout, re.MULTILINE)
    found = [(rule, dict(re.findall(r"(\w+)=([^,\n]+)", body.split("    resources: ")[-1]))) for rule, body in blocks]
    assert {rule for rule, _ in found} >= NAMES - LACKING[request.param]
    return found


def test_every_job_has_memory_and_time(planned):
    for rule, resources in planned:
        if rule in NAMES:  # not the targets, which run nothing
            least = 500 if rule == "vocabulary" else 1000  # counting words needs no torch: 205 MB in all
            assert int(resources["mem_mb"]) >= least and int(resources["runtime"]) >= 60, (rule, resources)


def test_java_gets_less_than_its_job(planned):
    heaps = [(int(resources["heap_mb"]), int(resources["mem_mb"])) for _, resources in planned if "heap_mb" in resources]
    assert heaps and all(memory >= heap + 1000 for heap, memory in heaps)


def test_only_a_measurement_asks_for_a_whole_node(planned):
    assert {rule for rule, resources in planned if "--exclusive" in resources.get("slurm_extra", "")} == {"latency"}


def test_rules_that_want_all_cpus_are_limited_by_the_profile():
    """`threads: 1024` means all of them on one machine; sbatch refuses more than a node has, in `make test-slurm` too."""
    asked = [int(number) for number in re.findall(r"^    threads: (\d+)", RULES, re.MULTILINE)]
    assert max(asked) == 1024 and SETTINGS["max-threads"] <= 64


def test_failed_jobs_are_submitted_again_by_the_profile_and_never_by_a_rule():
    """A rule's own retries would run inside the allocation that is being taken away."""
    assert SETTINGS["retries"] >= 1
    assert not re.search(r"^\s+retries:", RULES, re.MULTILINE)


def test_a_rule_that_needs_the_network_runs_on_the_submitting_host():
    assert {"boolq", "data", "queries", "triples", "statistics", "fetch", "encoder", "generator"} <= LOCAL
    assert not LOCAL & {"train", "encode", "prune", "rerank", "latency", "regress", "reweigh", "generate", "vocabulary"}


def test_the_submitting_host_needs_no_gpu(tmp_path):
    mine(tmp_path, lambda settings: settings["compute"].update(device="cuda"))
    target, asked = "results/mine/train/paper/history.tsv", {"directory": tmp_path, "EPIC_PLAN": "1", "CUDA_VISIBLE_DEVICES": ""}
    there, here = snakemake(target, "--profile", PROFILE, **asked), snakemake(target, **asked)
    for run in (there, here):
        assert run.returncode == 0 and "nothing was run" in run.stdout, run.stdout
    assert "GPU (CUDA)" in here.stdout and "GPU (CUDA)" not in there.stdout


def test_the_cluster_of_the_test_never_touches_another_one(tmp_path, monkeypatch):
    link = tmp_path / "slurm.conf"
    monkeypatch.setattr(cluster, "LINK", link)
    cluster.refuse_another_cluster()  # there is none
    link.symlink_to(f"/tmp/{cluster.NAME}-killed/cluster/slurm.conf")  # left by a test that was killed
    cluster.refuse_another_cluster()
    assert not link.is_symlink()
    link.write_text("ClusterName=real")
    with pytest.raises(SystemExit, match="belongs to a cluster"):
        cluster.refuse_another_cluster()
    assert link.read_text() == "ClusterName=real"
