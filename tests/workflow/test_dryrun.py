"""Dry-runs and messages: the right jobs, and errors that say what exists."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.conftest import ROOT, copy_repository, link_environment, snakemake


def jobs(output):
    """Rule -> number of jobs, from the statistics that a dry-run prints."""
    table = output.split("Job stats:")[1].split("total")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


def files(output):
    """All paths under results/ that are mentioned as outputs."""
    return set(re.findall(r"^    output: (.*)$", output, re.MULTILINE))


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    run = snakemake("--dry-run", directory=tmp_path_factory.mktemp("paper"))
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_the_bare_command_is_the_paper(paper):
    found = jobs(paper)
    models, others, sets = 3, 4, 4  # of EPIC, of other families (the last with published weights), of queries
    assert found["encode"] == models * 16 and found["prune"] == models * 3 and found["candidates"] == models
    assert found["train"] == models + others and found["vocabulary"] == others - 2 and found["encoder"] == 2
    assert found["curves"] == models - 1 + others - 1 and found["fetch"] == 10 and found["replay"] == 2
    assert found["rerank"] == (models * 8 + others - 1) * sets + 3 and found["tune"] == models * 2 + others
    assert found["evaluate"] == (models * 8 + 4 + others - 1) * sets + 2 + 3
    assert found["latency"] == models + others + 1 and found["rows"] == 34
    assert found["models"] == models + others and found["discard"] == found["turn"] == models
    assert not {"regress", "reweigh", "generate", "generator"} & found.keys()  # first stages are made of published files
    assert "results/smoke" not in paper


@pytest.mark.parametrize(
    "target",
    [
        "smoke",
        "results/smoke/table.tex",
        "results/paper/rows/epic-bm25-r1000.json",
        "results/paper/rows/bert-large.md",
        "results/paper/encode/paper/3-of-16",
        "results/paper/figures/frequencies-paper.pdf",
        "results/smoke/significance/validation.json",
        "results/paper/significance/dl19.json",
        "results/paper/report.html",
        "results/paper/interpret/released.json",
        "results/quick/table.md",
        "results/quick-bm25/rows/authors-bm25-full.md",
        "quick",
        "results/smoke/models/paper.md",
        "results/paper/discard/released.json",
    ],
)
def test_any_file_can_be_asked_for_by_its_path(target, tmp_path):
    run = snakemake(target, "--dry-run", directory=tmp_path)
    assert run.returncode == 0, run.stdout


def test_one_row_makes_just_what_it_needs(tmp_path):
    run = snakemake("results/smoke/rows/epic-bm25-r1000.md", "--dry-run", directory=tmp_path)
    found = jobs(run.stdout)
    assert "doctttttquery" not in " ".join(files(run.stdout))
    assert found == {
        "data": 1, "queries": 3, "expand": 1, "index": 1, "retrieve": 3, "triples": 1, "encoder": 1, "train": 1, "turn": 1,
        "tokenise": 2, "encode": 2, "prune": 1, "weigh": 2, "tune": 1, "rerank": 1, "evaluate": 2, "latency": 1, "rows": 1,
    }  # fmt: skip


def test_an_unpruned_row_by_itself_needs_no_vectors_and_with_all_others_it_reads_the_scores_of_their_pass(tmp_path):
    alone = snakemake("results/smoke/rows/epic-bm25-full.md", "--dry-run", directory=tmp_path)
    assert not {"tokenise", "candidates", "encode", "prune"} & jobs(alone.stdout).keys() and jobs(alone.stdout)["rerank"] == 1
    together = snakemake("results/smoke/table.md", "--dry-run", directory=tmp_path).stdout
    assert jobs(together)["candidates"] == 2 and jobs(together)["encode"] == 4
    blocks = [block for block in re.split(r"(?m)^(?:local)?rule ", together) if block.startswith(("tune:", "rerank:"))]
    unpruned = [block for block in blocks if not re.search(r"output: results/smoke/rerank/[^/]+-r\d+/", block)]
    scored = [block for block in unpruned if "candidates/" in block and "/encode/" in block]
    assert len(scored) == 8 and all(re.search(r"/encode/(paper|released)/", block) for block in scored)
    others = [block for block in unpruned if block not in scored]  # of rankers that compute nothing beforehand
    assert len(others) == 6 and all(re.search(r"/train/(tk|duet|cross)/checkpoint", block) for block in others)
    assert not any(part in block for block in others for part in ("candidates/", "/encode/", "/weigh/"))


@pytest.mark.parametrize(
    ("asked", "scored"), [("results/paper/rows/epic-bm25-r100.md", False), ("all", True), ("results/paper/models/paper.md", True)]
)
def test_a_job_on_a_node_of_a_cluster_has_the_inputs_that_the_command_gave_it(tmp_path, asked, scored):
    job = "encode:experiment=paper,model=paper,scatteritem=1-of-16"
    run = snakemake("--mode", "remote", "--target-jobs", job, "--dry-run", directory=tmp_path, EPIC_TARGETS=asked)
    assert "rule encode:" in run.stdout and ("candidates/paper" in run.stdout) == scored


def test_one_model_of_the_paper_needs_no_other_and_the_authors_weights_need_no_triples(tmp_path):
    run = snakemake("results/paper/models/authors.md", "--dry-run", directory=tmp_path)
    found = jobs(run.stdout)
    assert (
        found["train"] == found["latency"] == found["discard"] == found["turn"] == 1
        and found["encode"] == found["tokenise"] == 16
    )
    assert found["rows"] == 8 and found["rerank"] == 8 * 4 and "triples" not in found and "significance" not in found
    assert not re.search(r"results/paper/\w+/(paper|released)\b", run.stdout) and "latency/authors" in run.stdout


def test_a_model_can_start_from_the_authors_weights_and_stay_as_it_is(tmp_path):
    (tmp_path / "epic.p").write_text("weights")
    start = {"source": "path:epic.p", "md5": None}
    mine(tmp_path, lambda settings: settings["models"][1].update(start=start, loss=None))
    run = snakemake("results/mine/train/released/checkpoint", "--dry-run", directory=tmp_path)
    assert run.returncode == 0 and re.search(r"input: .*(?<!/)\bepic\.p\b", run.stdout)
    start["source"] = "download:epic.p"
    mine(tmp_path, lambda settings: settings["models"][1].update(start=start))
    run = snakemake("results/mine/train/released/checkpoint", "--dry-run", directory=tmp_path)
    assert run.returncode and "mine: there is no download epic.p; there are none" in run.stdout


def test_shards_can_be_set_on_the_command_line(tmp_path):
    run = snakemake("results/paper/prune/paper/1000", "--dry-run", "--set-scatter", "paper=5", directory=tmp_path)
    assert jobs(run.stdout)["encode"] == 5


ABSENT = dict(
    [
        (
            "results/nope/table.md",
            "there is no experiment nope; there are covid-dph, covid, mini-seeds, mini, paper, quick-bm25, quick, smoke",
        ),
        ("results/smoke/train/nope/history.tsv", "smoke: there is no model nope; there are paper"),
        ("results/smoke/rows/nope.md", "smoke: there is no row nope; there are bm25, doc2query"),
        ("results/smoke/rows/epic_bm25_r1000.md", "smoke: there is no row epic_bm25_r1000; there are bm25"),
        (
            "results/Smoke/table.md",
            "there is no experiment Smoke; there are covid-dph, covid, mini-seeds, mini, paper, quick-bm25, quick, smoke",
        ),
        ("results/smoke/index/nope", "smoke: there is no first stage nope; there are bm25, doctttttquery"),
        ("results/smoke/data/nope.queries.tsv", "smoke: there is no query set nope; there are train, validation, test"),
        ("results/smoke/rerank/bm25/test.run", "smoke: row bm25 is of the kind first-stage: there is nothing to re-rank"),
        ("results/smoke/significance/nope.json", "smoke: there is no query set nope"),
        ("results/nope/report.html", "there is no experiment nope; there are"),
        ("results/smoke/models/nope.md", "smoke: there is no model nope; there are paper, released"),
        ("results/smoke/discard/paper.json", "smoke: its vectors are kept; write keep: [] to have them removed after use"),
        ("results/smoke/latency/tk-3", "smoke: row tk-3 is of the kind published-only: it is not run here"),
        ("results/smoke/evaluate/bm25/nope.tsv", "smoke: there is no query set nope"),
        ("results/smoke/fetch/nope.zip", "smoke: there is no download nope.zip; there are none"),
    ]
)


@pytest.mark.parametrize("target", ABSENT)
def test_what_does_not_exist_is_refused_with_what_does(target, tmp_path):
    run = snakemake(target, "--dry-run", directory=tmp_path)
    assert run.returncode and ABSENT[target] in run.stdout, run.stdout


def mine(tmp_path, change):
    """An experiment of one's own in the working directory."""
    settings = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    change(settings)
    (tmp_path / "experiments").mkdir(exist_ok=True)
    (tmp_path / "experiments" / "mine.yaml").write_text(yaml.safe_dump(settings))


def test_an_experiment_in_the_working_directory_is_found(tmp_path):
    mine(tmp_path, lambda settings: settings["encode"].update(shards=3))
    run = snakemake("results/mine/table.md", "--dry-run", directory=tmp_path)
    assert run.returncode == 0 and jobs(run.stdout)["encode"] == 2 * 3  # of two models


def test_a_misspelt_key_stops_what_asks_for_the_experiment_with_file_and_key(tmp_path):
    mine(tmp_path, lambda settings: settings["train"].update(lerning_rate=1))
    run = snakemake("smoke", "--dry-run", directory=tmp_path)
    assert run.returncode == 0 and re.search(r"left out: .*mine\.yaml line \d+: train\.lerning_rate:", run.stdout)
    run = snakemake("results/mine/table.md", "--dry-run", directory=tmp_path)
    assert run.returncode and re.search(r"mine\.yaml line \d+: train\.lerning_rate:", run.stdout) and "lerning_rate" in run.stdout


def test_a_missing_collection_folder_is_named(tmp_path):
    mine(tmp_path, lambda settings: settings["data"].update(documents="path:not/here"))
    run = snakemake("results/mine/data/manifest.json", "--dry-run", directory=tmp_path)
    assert run.returncode and "path:not/here: not found" in run.stdout


@pytest.fixture
def no_gpu(tmp_path):
    """A PATH on which nvidia-smi finds nothing, so that no test can ever start the paper's run."""
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    return f"{tool.parent}:{os.environ['PATH']}"


def test_the_paper_is_refused_before_any_job_where_it_cannot_run(tmp_path, no_gpu):
    run = snakemake("--resources", "gpu=1", directory=tmp_path, PATH=no_gpu)
    assert run.returncode
    assert re.search(r"need +found +remedy", run.stdout) and re.search(r"GPU \(CUDA\) +none", run.stdout)
    assert "make smoke" in run.stdout and "msmarco" in run.stdout
    assert 150 <= int(re.search(r"disk: (\d+) GB free", run.stdout)[1]) <= 250
    assert re.search(r"encode +48 +309 +42 ", run.stdout)
    assert not (tmp_path / "results").exists()


def far_too_large(settings):
    """A collection that no disk holds."""
    settings["data"]["count"] = 10**12
    settings["first_stages"][0]["predicted_queries"] = dict(settings["first_stages"][1]["predicted_queries"])


def test_a_first_stage_row_of_the_paper_asks_for_no_gpu(tmp_path, no_gpu):
    mine(tmp_path, lambda settings: (settings["compute"].update(device="cuda"), far_too_large(settings)))
    run = snakemake("results/mine/rows/bm25.md", directory=tmp_path, PATH=no_gpu)
    assert run.returncode and "larger disk" in run.stdout and "GPU (CUDA)" not in run.stdout


def test_a_disk_that_is_too_small_is_refused(tmp_path):
    mine(tmp_path, far_too_large)
    run = snakemake("results/mine/expand/bm25", directory=tmp_path)
    assert run.returncode and re.search(r"disk: [\d,]+ GB free .*GB +free some", run.stdout) and "larger disk" in run.stdout
    assert not (tmp_path / "results").exists()


def test_memory_that_is_too_small_is_refused(tmp_path):
    mine(tmp_path, lambda settings: settings["compute"].update(index_memory_mb=10**9))
    run = snakemake("results/mine/index/bm25", directory=tmp_path)
    assert run.returncode and re.search(r"memory: 1,000,002 GB .*run on a machine with more memory", run.stdout)
    assert not (tmp_path / "results").exists()


def plan(*targets, directory):
    """What `make plan` says of some targets, in a folder of its own."""
    return snakemake(*targets, "--quiet", "progress", "rules", "host", "reason", directory=directory, EPIC_PLAN="1")


@pytest.fixture
def repository(tmp_path):
    """A copy of the repository without results, with this very environment as its .venv."""
    folder = copy_repository(tmp_path / "copy")
    link_environment(folder)
    return folder


def make(repository, no_gpu, *arguments):
    """What a target of the Makefile says where there is no GPU."""
    environment = os.environ | {"PATH": no_gpu}
    run = subprocess.run(
        ["make", *arguments], cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    assert run.returncode == 0 and re.search(r"^paper: .*; nothing was run$", run.stdout, re.MULTILINE), run.stdout
    assert re.search(r"^ +index +\d", run.stdout, re.MULTILINE) and re.search(r"^ +total +\d+ +\d", run.stdout, re.MULTILINE)
    assert not (repository / "results").exists()
    return run.stdout


def test_a_plan_of_the_paper_shows_needs_and_costs_and_runs_nothing(repository, no_gpu):
    said = make(repository, no_gpu, "paper-plan")
    assert re.search(r"paper: \d+ needs are not met here; nothing was run", said)
    assert re.search(r"need +found +remedy", said) and re.search(r"GPU \(CUDA\) +none", said)
    assert re.search(r"stage +jobs +GB written +GPU-hours +hours", said) and re.search(r"total +\d+ +4\d\d ", said)
    assert re.search(r"^ +encode +\d", said, re.MULTILINE)
    assert not list((repository / ".snakemake" / "locks").iterdir())


def test_a_plan_of_a_file_shows_what_that_file_takes(repository, no_gpu):
    said = make(repository, no_gpu, "plan", "TARGET=results/paper/rows/bm25.md")
    assert "GPU (CUDA)" not in said and not re.search(r"^ +encode +\d", said, re.MULTILINE)


def test_a_plan_is_made_for_the_card_that_is_named_and_an_unknown_one_is_refused(tmp_path, repository, no_gpu):
    said = make(repository, no_gpu, "paper-plan", "CARD=A100")
    assert "on a card like A100" in said and re.search(r"^ +encode +48 +309 +3\.\d ", said, re.MULTILINE)
    run = snakemake("results/paper/rows/bm25.md", directory=tmp_path, PATH=no_gpu, EPIC_PLAN="1", EPIC_CARD="B52")
    assert run.returncode and "EPIC_CARD=B52: no such card is known" in run.stdout and "Traceback" not in run.stdout


BARS = [  # target, card, most GPU-hours, most GB that must be free
    ("all", "A100", 25, 250),
    ("results/paper/models/authors.md", "A100", 3, 250),
    ("results/paper/models/paper.md", "A100", 4, 250),
    ("results/paper/models/tk1.md", "A100", 2, 30),
    ("results/paper/models/tk3.md", "A100", 5, 30),
    ("results/paper/models/duet.md", "A100", 7, 30),
    ("results/paper/models/bert.md", "A100", 4, 30),
    ("quick", "A100", 2, 60),
    ("results/quick-bm25/table.md", "A100", 2, 40),
    ("results/quick-bm25/table.md", "GTX 1080 Ti", 12, 40),
]


@pytest.mark.parametrize(("target", "card", "hours", "gigabytes"), BARS)
def test_each_step_of_the_paper_s_run_stays_within_what_its_page_promises(tmp_path, no_gpu, target, card, hours, gigabytes):
    run = snakemake(target, "--resources", "gpu=1", directory=tmp_path, PATH=no_gpu, EPIC_PLAN="1", EPIC_CARD=card)
    assert int(re.search(r"disk: (\d+) GB free", run.stdout)[1]) <= gigabytes
    assert float(re.search(r"(?m)^ +total +\d+ +\S+ +(\S+) ", run.stdout)[1]) <= hours


def test_without_a_card_the_check_of_one_stops_at_once_with_one_line(repository, no_gpu):
    run = subprocess.run(
        ["make", "paper-check"], cwd=repository, capture_output=True, text=True, env=os.environ | {"PATH": no_gpu}
    )
    said = [line for line in run.stdout.splitlines() if not line.startswith("make")]  # make inside make names folders
    assert run.returncode and not said and run.stderr.startswith("epic check-card: GPU (CUDA): none; run where")
    assert len([line for line in run.stderr.splitlines() if not line.startswith("make")]) == 1


def test_the_check_of_a_card_runs_every_test_that_needs_one():
    (recipe,) = re.findall(r"^paper-check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    needing = [
        path for path in (ROOT / "tests").rglob("test_*.py") if re.search(r"(?m)^@.*skipif.*needs a GPU", path.read_text())
    ]
    assert "tests/device" in recipe and len(needing) and all(str(path.relative_to(ROOT)) in recipe for path in needing)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A plan, the first job of it run, and a plan again."""
    folder, target = tmp_path_factory.mktemp("prepared"), "results/smoke/expand/bm25"
    before = plan(target, directory=folder)
    run = snakemake("results/smoke/data/manifest.json", directory=folder)
    assert run.returncode == 0, run.stdout
    return before.stdout, run.stdout, plan(target, directory=folder).stdout


def test_what_is_done_already_is_not_planned_again(prepared):
    before, _, after = prepared
    assert re.search(r"total +2 ", before) and re.search(r"total +1 ", after)


def broken(tmp_path, name, content):
    """The smoke experiment over a copy of the tiny collection with one file replaced."""
    shutil.copytree(ROOT / "workflow" / "resources" / "tiny", tmp_path / "copy")
    (tmp_path / "copy" / name).write_text(content)

    def change(settings):
        settings["data"]["documents"] = "path:copy"
        for query_set in settings["query_sets"]:
            query_set["dataset"] = query_set["dataset"].replace("workflow/resources/tiny", "copy")
        settings["first_stages"][1]["predicted_queries"]["source"] = "path:copy/predicted"

    mine(tmp_path, change)


def test_a_malformed_line_fails_the_job_and_its_log_names_file_and_line(tmp_path):
    broken(tmp_path, "docs.tsv", "0\tfine\n1 no tab\n")
    run = snakemake("results/mine/data/manifest.json", directory=tmp_path)
    log = (tmp_path / "results" / "mine" / "logs" / "data" / "documents.log").read_text()
    assert run.returncode and "docs.tsv line 2: expected id TAB text" in log and "docs.tsv line 2" in run.stdout


def test_predictions_for_another_collection_fail_the_job(tmp_path):
    broken(tmp_path, "predicted/predicted_queries_topk_sample003.txt001-1004000", "too\nshort\n")
    run = snakemake("results/mine/expand/doctttttquery", directory=tmp_path)
    assert run.returncode and "ends after line 2" in run.stdout


def test_jobs_on_one_machine_share_its_memory_unless_the_command_says_how_much(prepared, tmp_path):
    from epic.core.machine import total_memory

    assert f'("mem_mb", {total_memory() // 10**6})' in prepared[1]
    run = snakemake("results/smoke/data/manifest.json", "--resources", "mem_mb=3000", directory=tmp_path)
    assert run.returncode == 0 and '("mem_mb", 3000)' in run.stdout and "gpu" not in run.stdout.split("Job stats")[0]


def test_an_old_java_fails_the_check_before_any_job(tmp_path):
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    run = snakemake("results/smoke/index/bm25", directory=tmp_path, JAVA_HOME=str(tmp_path / "java"))
    assert run.returncode and "Java 17" in run.stdout and "set JAVA_HOME to a Java 21" in run.stdout
    assert not (tmp_path / "results").exists()
