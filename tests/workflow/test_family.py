"""The seam for re-rankers is real: a family of a few lines, in a module of the tests, goes through every stage."""

import json
import re
import sys
import zipfile

import pytest
import yaml

from tests.conftest import ROOT, snakemake
from tests.published import leaks, telling

pytestmark = pytest.mark.smoke
USER, SECRET = "jane-doe", "s3cr3t-t0ken"
MODEL = {
    "id": "overlap", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "encoder": None, "start": None, "loss": "cross-entropy",
    "seed": 1, "prefix": "overlap", "label": "Word overlap", "group": "Other re-ranking", "tolerance": None,
    "latency": {"warm_up": 1, "measured": 4},
}  # fmt: skip
ROWS = [
    {"id": "bm25", "label": "BM25", "group": "Single-stage ranking", "kind": "first-stage", "first_stage": "bm25", "published": []},
    {
        "for": {"model": ["overlap"], "first_stage": ["bm25"]}, "id": "{model.prefix}-{first_stage}", "kind": "model", "published": [],
        "label": "{model.label} + {first_stage.label}", "group": "{model.group}",
    },
    {
        "id": "theirs", "label": "A published run", "group": "Other re-ranking", "kind": "run-file", "published": [],
        "runs": [{"query_set": "test", "source": "path:workflow/resources/tiny/runs/stand-in.tsv"}],
        "timed": {"model": "overlap", "first_stage": "bm25", "hits": 150},
    },
]  # fmt: skip
LABELS = {"bm25": "BM25", "overlap-bm25": "Word overlap + BM25", "theirs": "A published run"}
RULE = {
    "mark": "a",
    "each": "model",
    "says": "{model.label} against BM25",
    "margin": None,
    "system": {},
    "baseline": "own-first-stage",
}


OF_WORDS = MODEL | {
    "id": "known", "family": "tests.fake_words", "prefix": "known", "label": "Known words",
    "settings": {
        "words": {"tokeniser": "letters", "vocabulary": None, "at_least": 2, "most": 50, "idf": None, "vectors": "path:glove.zip"},
        "dimensions": 3,
    },
}  # fmt: skip


def experiment(**changes):
    settings = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    settings |= {"encoders": [], "weighters": [], "models": [MODEL], "rows": ROWS, "comparisons": [RULE]}
    settings["first_stages"] = settings["first_stages"][:1]
    settings["train"] |= {"validate_every": 32, "max_validations": 2}
    return settings | changes


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("family")
    (folder / "experiments").mkdir()
    (folder / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment()))
    targets = ["results/mine/report.html", "results/mine/experiment.yaml"]
    targets += [f"results/mine/{page}.md" for page in ("rows/overlap-bm25", "rows/theirs", "models/overlap")]
    (folder / "home" / USER).mkdir(parents=True)
    run = snakemake(
        *targets, directory=folder, HOME=str(folder / "home" / USER), USER=USER, LOGNAME=USER, EPIC_PLANTED_SECRET=SECRET
    )
    assert run.returncode == 0, run.stdout[-4000:]
    return folder / "results" / "mine"


def test_no_file_but_logs_tells_of_the_user_the_machine_or_its_environment(results):
    folder = results.parents[1]
    found = leaks(results, USER, SECRET, str(folder), str(ROOT), sys.prefix, *telling())
    assert found == {} and (results / "report.html").exists()


def test_it_is_trained_and_has_a_card(results):
    card = (results / "train/overlap/checkpoint/README.md").read_text()
    assert "# tests.fake_ranker" in card and "| scale | 2.0 |" in card and "Validation MRR@10" in card
    assert len((results / "train/overlap/history.tsv").read_text().splitlines()) == 3


def test_it_is_tuned_and_reranks_and_has_a_row(results):
    assert 1 <= json.loads((results / "tune/overlap/bm25.json").read_text())["cutoff"] <= 200
    row = json.loads((results / "rows/overlap-bm25.json").read_text())
    assert (
        row["metrics"]["test"]["queries"] == 58
        and row["keep"] is None
        and row["settings"]["model"]["family"] == "tests.fake_ranker"
    )
    assert "Against `bm25` on test" in (results / "rows/overlap-bm25.md").read_text()


def test_it_is_timed_by_its_own_stages(results):
    found = json.loads((results / "latency/together/overlap-bm25.json").read_text())
    assert list(found["ms"]) == ["retrieve", "load", "score", "total"] and found["stages"]["after"] == ["load", "score"]
    assert list(json.loads((results / "latency/together/bm25.json").read_text())["ms"]) == ["retrieve", "total"]


def test_a_published_run_is_scored_as_it_was_published_and_timed_by_running_the_model(results):
    found = json.loads((results / "latency/together/theirs.json").read_text())
    assert list(found["ms"]) == ["retrieve", "load", "score", "total"] and found["settings"]["hits"] == 150
    row = json.loads((results / "rows/theirs.json").read_text())
    assert row["sources"]["latency"] == "the model overlap, run here over the first 150 hits of bm25"
    assert row["settings"]["timed"]["model"]["family"] == "tests.fake_ranker" and row["runs_sha256"]["test"]
    assert not (results / "rerank" / "theirs").exists() and (results / "replay" / "theirs").exists()
    page = (results / "rows/theirs.md").read_text()
    assert "Effectiveness: the published run. Latency: the model overlap, run here" in page and "| score " in page
    table = (results / "table.md").read_text()
    assert "milliseconds are of a model (A published run: the model overlap, run here over the first 150 hits of bm25)" in table
    assert re.search(r"\| theirs +\|.*\|\s+[+-]\d", (results / "models/overlap.md").read_text())  # beyond its first stage


def test_a_slow_model_is_timed_on_fewer_queries_and_that_is_said_wherever_its_time_is(results):
    for row, queries in (("bm25", 6), ("overlap-bm25", 4), ("theirs", 4)):
        found = json.loads((results / f"latency/together/{row}.json").read_text())
        assert found["queries"] == queries and found.get("instead_of") == (6 if queries < 6 else None)
        timings = (results / f"latency/together/{row}.tsv").read_text().splitlines()[1:]
        assert sum("\twarm\t" in line for line in timings) == queries
        said = "(4 queries)" if queries < 6 else "queries"
        lines = [line for line in (results / "table.md").read_text().splitlines() if line.startswith(f"| {LABELS[row]} ")]
        assert len(lines) == 1 and (said in lines[0]) == (queries < 6)
        assert ("Timed on 4 queries" in (results / f"rows/{row}.md").read_text()) == (queries < 6) if row != "bm25" else True
    assert "<small>(4 queries)</small>" in (results / "report.html").read_text()
    assert "(4 queries)" in (results / "models/overlap.md").read_text()


def test_it_has_a_place_in_table_figures_and_report(results):
    table = (results / "table.md").read_text()
    assert re.search(r"\| Word overlap \+ BM25 +\| test \(57 of 58\) +\|", table)
    drawn = {path.stem for path in (results / "figures").glob("*.png")}
    assert {"tradeoff", "cutoffs", "stages", "training-overlap"} == drawn  # no pruning figure: nothing is pruned
    page = (results / "report.html").read_text()
    assert "Word overlap + BM25" in page and "overlap-bm25" in page


def test_nothing_that_only_precomputing_families_have_was_made(results):
    made = {path.name for path in results.iterdir()}
    assert not {"encode", "prune", "weigh", "frequencies", "costs", "interpret", "encoder"} & made


def test_beside_epic_it_adds_its_own_jobs_and_no_vectors(tmp_path):
    smoke = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    smoke["models"].append(MODEL)
    smoke["rows"].append(ROWS[1])
    smoke["comparisons"].append(RULE | {"system": {"model": "overlap"}} | {"mark": "f", "says": "x"})
    smoke["comparisons"][-1].pop("each")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "both.yaml").write_text(yaml.safe_dump(smoke))
    run = snakemake("results/both/report.html", "--dry-run", directory=tmp_path)
    assert run.returncode == 0, run.stdout[-3000:]
    assert "model=overlap" in run.stdout and not re.search(r"results/both/(encode|prune|weigh)/overlap", run.stdout)


@pytest.fixture
def of_words(tmp_path):
    """A folder with an experiment whose model knows words, and with a zip of vectors."""
    (tmp_path / "experiments").mkdir()
    rows = [ROWS[0], ROWS[1] | {"for": ROWS[1]["for"] | {"model": ["known"]}}]
    (tmp_path / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment(models=[OF_WORDS], rows=rows)))
    with zipfile.ZipFile(tmp_path / "glove.zip", "w") as archive:
        archive.writestr("glove.3d.txt", "the 1 2 3\nof 4 5 6\n")
    return tmp_path


def test_a_family_of_words_gets_a_vocabulary_before_it_is_trained(of_words):
    run = snakemake("results/mine/report.html", "--dry-run", directory=of_words)
    assert run.returncode == 0, run.stdout[-3000:]
    jobs = re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", run.stdout, re.MULTILINE)
    (trained,) = (body for rule, body in jobs if rule == "train")
    (made,) = (body for rule, body in jobs if rule == "vocabulary")
    assert "results/mine/vocabulary/known" in trained.split("output:")[0] and "glove.zip" in made
    assert "results/mine/vocabulary/known" in made.split("output:")[1] and "model=known" in made


def test_it_is_trained_with_the_collection_s_words_and_its_checkpoint_has_a_copy_of_them(of_words):
    run = snakemake("results/mine/tune/known/bm25.json", directory=of_words)  # which loads the checkpoint
    assert run.returncode == 0, run.stdout[-3000:]
    folder = of_words / "results" / "mine" / "vocabulary" / "known"
    facts, lines = json.loads((folder / "vocabulary.json").read_text()), (folder / "words.tsv").read_text().splitlines()
    assert facts["words"] == 50 == len(lines) and facts["found"] == 2 and facts["dimensions"] == 3
    passages = [int(line.split("\t")[1]) for line in lines]
    assert lines[0].startswith("the\t") and passages == sorted(passages, reverse=True) and passages[-1] >= 2
    checkpoint = of_words / "results" / "mine" / "train" / "known" / "checkpoint"
    assert {"vocabulary.json", "words.tsv", "model.safetensors"} <= {path.name for path in checkpoint.iterdir()}
    assert (checkpoint / "words.tsv").read_bytes() == (folder / "words.tsv").read_bytes()
    assert not (checkpoint / "vectors.safetensors").exists()  # the trained ones are among the weights


def test_a_model_without_words_has_no_vocabulary(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment()))
    run = snakemake("results/mine/vocabulary/overlap", "--dry-run", directory=tmp_path)
    assert run.returncode and "model overlap has no vocabulary: its family knows no words" in run.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": [MODEL | {"settings": {"size": 1}}]}, r"models\.overlap\.settings: .*'size' was unexpected"),
        (
            {"rows": [ROWS[0], ROWS[1] | {"for": ROWS[1]["for"] | {"keep": [10]}}]},
            "a row of the kind model and of this family has no keep",
        ),
        ({"models": [MODEL | {"family": "tests.no_such_ranker"}]}, "there is no family tests.no_such_ranker"),
    ],
)
def test_what_the_family_does_not_know_is_refused(tmp_path, change, message):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment(**change)))
    run = snakemake("results/mine/table.md", "--dry-run", directory=tmp_path)
    assert run.returncode and re.search(message, run.stdout) and "mine.yaml line" in run.stdout
