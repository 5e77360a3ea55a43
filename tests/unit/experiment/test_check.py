"""Experiments: closed schema, references, and the names of what exists."""

import dataclasses
import re

import pytest
import yaml

from epic.config import (
    EncodeSettings,
    TrainSettings,
    find,
    load_experiment,
    load_experiments,
    sets_of,
    tuning_set,
    validation_set,
)
from epic.files import InputError
from tests.conftest import ROOT

SCHEMA = ROOT / "workflow" / "schemas" / "experiment.schema.yaml"
EXPERIMENTS = ROOT / "workflow" / "experiments"
PAPER_ROWS = [
    "bm25",
    "doc2query",
    "deepct",
    "doctttttquery",
    "epic-bm25-full",
    "epic-bm25-r2000",
    "epic-bm25-r1000",
    "epic-bm25-r100",
    "epic-doctttttquery-full",
    "epic-doctttttquery-r2000",
    "epic-doctttttquery-r1000",
    "epic-doctttttquery-r100",
    "duet-v2",
    "tk-1",
    "tk-3",
    "bert-large",
]
PAPER_TABLE = {  # MRR@10 and milliseconds, from the paper's table and, for r=100, its text
    "bm25": (0.198, 21), "doc2query": (0.218, 48), "deepct": (0.243, 15), "doctttttquery": (0.277, 63),
    "epic-bm25-full": (0.273, 106), "epic-bm25-r2000": (0.273, 104), "epic-bm25-r1000": (0.272, 48), "epic-bm25-r100": (0.241, None),
    "epic-doctttttquery-full": (0.304, 78), "epic-doctttttquery-r2000": (0.304, 77), "epic-doctttttquery-r1000": (0.303, 68),
    "epic-doctttttquery-r100": (0.285, None), "duet-v2": (0.252, 440), "tk-1": (0.303, 445), "tk-3": (0.314, 640),
    "bert-large": (0.365, 3500),
}  # fmt: skip


def schema():
    return yaml.safe_load(SCHEMA.read_text())


def changed(tmp_path, change):
    settings = yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text())
    change(settings)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.mark.parametrize(("name", "beside"), [("paper", ["released", "authors"]), ("smoke", ["released"])])
def test_every_row_of_the_paper_is_listed_with_its_published_values(name, beside):
    """What the authors' code does, and what their weights do, stands beside the text."""
    rows = [row for row in load_experiments([EXPERIMENTS], SCHEMA)[name]["rows"] if row["id"] != "doctttttquery-run"]
    epic = [row for row in PAPER_ROWS if row.startswith("epic-")]
    place = PAPER_ROWS.index("duet-v2")
    others = [row.replace("epic-", f"{model}-") for model in beside for row in epic]
    assert [row["id"] for row in rows] == [*PAPER_ROWS[:place], *others, *PAPER_ROWS[place:]]
    for row in rows:
        published = {entry["metric"]: entry["value"] for entry in reversed(row["published"]) if entry["source"] == "paper"}
        same = re.sub("^(released|authors)-", "epic-", row["id"])
        assert (published["RR@10"], published.get("ms/query")) == PAPER_TABLE[same]


def test_only_rows_of_which_nothing_was_released_are_not_run():
    for name in ("paper", "smoke"):
        rows = load_experiments([EXPERIMENTS], SCHEMA)[name]["rows"]
        assert [row["id"] for row in rows if row["kind"] == "published-only"] == ["duet-v2", "tk-1", "tk-3"]


def test_a_published_run_is_scored_on_its_own_query_set_only():
    settings = load_experiments([EXPERIMENTS], SCHEMA)["paper"]
    scored = {name: sets_of(settings, find(settings["rows"], name)) for name in ("bert-large", "duet-v2", "bm25")}
    assert scored == {"bert-large": ["dev-small"], "duet-v2": [], "bm25": ["dev-small", "dev-judged", "dl19", "dl20"]}


def test_the_cut_off_is_chosen_on_a_set_of_its_own_where_there_is_one():
    experiments = load_experiments([EXPERIMENTS], SCHEMA)
    assert tuning_set(experiments["mini"]) == "tune" and validation_set(experiments["mini"]) == "validation"
    assert tuning_set(experiments["paper"]) == validation_set(experiments["paper"]) == "validation"


def test_seeds_of_mini_differ_in_nothing_but_the_seed():
    experiments = load_experiments([EXPERIMENTS], SCHEMA)
    mini, seeds = experiments["mini"], experiments["mini-seeds"]
    assert {key for key in mini if mini[key] != seeds[key]} == {"title", "models", "comparisons", "rows"}
    assert [model["seed"] for model in seeds["models"]] == [43, 44] and find(mini["models"], "paper")["seed"] == 42
    same = {"id": None, "seed": None}
    assert all(model | same == find(mini["models"], "paper") | same for model in seeds["models"])


def test_smoke_says_that_its_numbers_are_not_comparable():
    note = load_experiments([EXPERIMENTS], SCHEMA)["smoke"]["note"]
    assert "never comparable" in note and "MS MARCO" in note and "Natural Questions" in note


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["train"].update(batchsize=1), r"mine\.yaml: \$\.train: .*'batchsize' was unexpected"),
        (lambda s: s["train"].pop("patience"), r"mine\.yaml: \$\.train: 'patience' is a required property"),
        (lambda s: s.update(extra=1), r"mine\.yaml: \$: .*'extra' was unexpected"),
        (lambda s: s["models"][0]["encoder"].update(sha256="abc"), r"\$\.models\[0\]\.encoder\.sha256"),
        (
            lambda s: find(s["query_sets"], s["latency"]["query_set"]).update(hits=99),
            r"test has 99 hits; unpruned rows may be timed with \d+",
        ),
        (lambda s: s["rows"][5].update(keep=0), r"\$\.rows\[5\]\.keep"),
        (lambda s: s["rows"][5].pop("keep"), r"\$\.rows\.epic-bm25-full: a row of the kind model needs keep"),
        (lambda s: s["rows"][0].update(keep=10), r"\$\.rows\.bm25: a row of the kind first-stage has no keep"),
        (lambda s: s["rows"][5].update(first_stage="bm26"), r"no bm26 in first_stages; there are bm25, doctttttquery"),
        (lambda s: s["tune"].update(max_cutoff=201), r"\$\.tune\.max_cutoff: 201 is more than the hits of validation \(200\)"),
        (
            lambda s: s["first_stages"][2].update(weighted_text={"source": "path:x"}),
            r"first_stages\.doc2query: .* exclude each other",
        ),
        (lambda s: s["rows"][-1].pop("runs"), r"\$\.rows\.bert-large: a row of the kind run-file needs runs"),
        (
            lambda s: s["rows"][-1]["runs"][0].update(query_set="train"),
            r"rows\.bert-large\.runs: train is for train, expected a set for test",
        ),
        (lambda s: s["rows"][6].update(keep=5000), r"5000 is more than encode\.max_terms \(2000\)"),
        (lambda s: s["rows"].append(dict(s["rows"][0])), r"\$\.rows: the id bm25 is given twice"),
        (lambda s: s["comparisons"][0]["pairs"].append(["nope", "bm25"]), r"\$\.comparisons\[0\]: no nope in rows"),
        (lambda s: s["comparisons"][0]["pairs"].append(["bm25", "tk-1"]), r"\$\.comparisons\[0\]: tk-1 is not run here"),
        (
            lambda s: s["comparisons"][0]["pairs"].append(["epic-bm25-full", "bm25"]),
            r"comparisons\[0\]: the pair .* is given twice",
        ),
        (lambda s: s["comparisons"][1].update(margin=0), r"\$\.comparisons\[1\]\.margin"),
        (
            lambda s: s["texts"]["passages"].append({"query_set": "nope", "query": "1"}),
            r"\$\.texts\.passages: no nope in query_sets",
        ),
        (lambda s: s["rows"][5].update(keep="all"), r"\$\.rows\[5\]\.keep: 'all' does not match '\^full\$'"),
        (lambda s: s["triples"].update(seeed=1), r"\$\.triples: .*'seeed' was unexpected"),
        (lambda s: s["triples"].pop("depth"), r"\$\.triples: the source sampled needs depth"),
        (lambda s: s["triples"].update(dataset="x"), r"\$\.triples: the source sampled has no dataset"),
        (lambda s: s["triples"].update(query_set="test"), r"\$\.triples\.query_set: test is for test, expected a set for train"),
        (lambda s: s["evaluate"].update(headline="validation"), r"\$\.evaluate\.headline: validation is for validation"),
        (lambda s: s["query_sets"][2].update(relevance=2), r"\$\.evaluate\.headline: the table shows MRR@10 from grade 1 on"),
        (lambda s: s["models"][0].update(formulation="other"), r"\$\.models\[0\]\.formulation: 'other' is not one of"),
        (
            lambda s: s["models"][0].update(start={"source": "path:epic.p", "md5": None}),
            r"\$\.models\.paper\.start: the authors' weights are of the formulation released",
        ),
        (lambda s: s["models"][1].update(start={"source": "epic.p", "md5": None}), r"\$\.models\[1\]\.start\.source"),
        (lambda s: s["models"][1].update(loss="hinge"), r"\$\.models\[1\]\.loss: 'hinge' is not one of"),
        (lambda s: s["train"].update(validate_every=200), r"\$\.train\.validate_every: 200 is no multiple of batch_size \(16\)"),
        (lambda s: s["train"].update(precision="int8"), r"\$\.train\.precision: 'int8' is not one of"),
        (lambda s: s["compute"].update(precision="float16"), r"\$\.compute\.precision: mixed precision is for the device cuda"),
        (lambda s: s["query_sets"].pop(1), r"exactly one set must have the purpose validation"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        load_experiment(changed(tmp_path, change), schema())


def test_a_key_given_twice_and_broken_yaml_are_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("title: a\ntitle: b\n")
    with pytest.raises(InputError, match="'title' is given twice"):
        load_experiment(path, schema())
    path.write_text("title: [a\n")
    with pytest.raises(InputError, match=r"mine\.yaml: not valid YAML"):
        load_experiment(path, schema())


def test_an_experiment_of_the_same_name_elsewhere_is_refused(tmp_path):
    (tmp_path / "smoke.yaml").write_text("title: other\n")
    with pytest.raises(InputError, match="named smoke exists already"):
        load_experiments([EXPERIMENTS, tmp_path], SCHEMA)


def test_a_name_that_no_path_could_hold_is_refused(tmp_path):
    (tmp_path / "My.exp.yaml").write_text("title: other\n")
    with pytest.raises(InputError, match="rename the file"):
        load_experiments([tmp_path], SCHEMA)


def test_what_does_not_exist_lists_what_does():
    with pytest.raises(InputError, match="there is no row c; there are a, b"):
        find([{"id": "a"}, {"id": "b"}], "c", "row")


@pytest.mark.parametrize(("settings", "key"), [(TrainSettings, "train"), (EncodeSettings, "encode")])
def test_dataclasses_and_schema_name_the_same_keys(settings, key):
    assert {field.name for field in dataclasses.fields(settings)} == set(schema()["properties"][key]["properties"]) - {"shards"}


def test_the_schema_is_closed_at_every_level():
    def walk(node, path):
        if isinstance(node, dict):
            if "object" in (node.get("type") or []) or node.get("type") == "object":
                assert node.get("additionalProperties") is False, path
            for key, value in node.items():
                walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for position, value in enumerate(node):
                walk(value, f"{path}[{position}]")

    walk(schema(), "$")


def without_origin(text):
    """Settings that do not say where their values come from, by a comment behind them, behind what they belong to, or above."""
    found, parents, above = [], [], set()  # indentation and whether there is a comment; indentation of comments on their own line
    for line in filter(str.strip, text.splitlines()):
        indent = len(line) - len(line.lstrip())
        parents, above = [parent for parent in parents if parent[0] < indent], {place for place in above if place <= indent}
        if line.lstrip().startswith("#"):
            above.add(indent)
            continue
        commented = " #" in line
        if not (commented or indent in above or any(parent[1] for parent in parents) or line.endswith(":")):
            found.append(line.strip())
        parents.append((indent, commented))
    return found


def test_every_setting_of_the_paper_says_where_its_value_comes_from():
    settings, _ = (EXPERIMENTS / "paper.yaml").read_text().split("\ncomparisons:")
    assert without_origin(settings[settings.index("\ndata:") :]) == []
    assert without_origin("train:\n  patience: 20\n  batch_size: 16  # text\n") == ["patience: 20"]
