"""Experiments: closed schema, references, and the names of what exists."""

import copy
import math
import re
import shutil
from functools import cache

import pytest
import yaml

from epic.core.files import InputError
from epic.experiment.check import METRICS, PUBLISHED, SCHEMA, load_experiment, load_experiments, read_published, sound_and_broken
from epic.experiment.lookup import find
from epic.report.differences import flat
from tests.conftest import ROOT

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
OURS = {"bert-large-rescored": "bert-large", "cross-encoder": None}  # rows that the paper has not, and whose values they have


def schema():
    return yaml.safe_load(SCHEMA.read_text())


@cache
def read_once():
    """The schema, what was published, and the experiment smoke."""
    return schema(), read_published(PUBLISHED), yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text())


def load(path):
    return load_experiment(path, *read_once()[:2])


def changed(tmp_path, change):
    settings = copy.deepcopy(read_once()[2])
    change(settings)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.mark.parametrize(
    ("name", "beside", "ours"),
    [("paper", ["released", "authors"], ["bert-large-rescored"]), ("smoke", ["released"], ["cross-encoder"])],
)
def test_every_row_of_the_paper_is_listed_with_its_published_values(name, beside, ours):
    """What the authors' code does, and what their weights do, stands beside the text."""
    rows = [row for row in load_experiments([EXPERIMENTS])[name]["rows"] if row["id"] != "doctttttquery-run"]
    epic = [row for row in PAPER_ROWS if row.startswith("epic-")]
    place = PAPER_ROWS.index("duet-v2")
    others = [row.replace("epic-", f"{model}-") for model in beside for row in epic]
    assert [row["id"] for row in rows if row["id"] not in OURS] == [*PAPER_ROWS[:place], *others, *PAPER_ROWS[place:]]
    assert [row["id"] for row in rows if row["id"] in OURS] == ours
    for row in rows:
        published = {entry["metric"]: entry["value"] for entry in reversed(row["published"]) if entry["source"] == "paper"}
        same = OURS.get(row["id"], re.sub("^(released|authors)-", "epic-", row["id"]))
        assert (published.get("RR@10"), published.get("ms/query")) == PAPER_TABLE.get(same, (None, None))


def test_every_row_of_the_paper_is_run_and_smoke_leaves_out_no_more_than_tk_with_three_layers():
    """A published-only row is left in smoke, so that it is shown as such."""
    experiments = load_experiments([EXPERIMENTS])
    left_out = {name: [row["id"] for row in experiments[name]["rows"] if row["kind"] == "published-only"] for name in experiments}
    assert left_out["paper"] == [] and left_out["smoke"] == ["tk-3"]


def test_the_published_run_of_bert_large_is_timed_by_running_a_cross_encoder():
    for name in ("paper", "smoke"):
        settings = load_experiments([EXPERIMENTS])[name]
        timed = find(settings["rows"], "bert-large")["timed"]
        assert find(settings["models"], timed["model"])["family"] == "cross_encoder" and timed["first_stage"] == "bm25"
    assert find(load_experiments([EXPERIMENTS])["paper"]["rows"], "bert-large")["timed"]["hits"] == 1000


def test_only_the_authors_weights_are_encoded_as_in_the_released_batches():
    on = [
        (name, model["id"])
        for name, settings in load_experiments([EXPERIMENTS]).items()
        for model in settings["models"]
        if model["settings"].get("released_batches")
    ]
    assert on == [("paper", "authors"), ("quick-bm25", "authors"), ("quick", "authors")]


def test_seeds_of_mini_differ_in_nothing_but_the_seed():
    experiments = load_experiments([EXPERIMENTS])
    mini, seeds = experiments["mini"], experiments["mini-seeds"]
    assert {key for key in mini if mini[key] != seeds[key]} == {"title", "models", "comparisons", "rows"}
    assert [model["seed"] for model in seeds["models"]] == [43, 44] and find(mini["models"], "paper")["seed"] == 42
    same = dict.fromkeys(("id", "seed", "prefix", "label"))
    assert all(model | same == find(mini["models"], "paper") | same for model in seeds["models"])


def of_both(name):
    """The experiments paper and `name`, as they are written, flat."""
    return (flat(yaml.safe_load((EXPERIMENTS / f"{one}.yaml").read_text())) for one in ("paper", name))


@pytest.mark.parametrize("name", ["quick", "quick-bm25"])
def test_quick_says_what_the_paper_says_but_for_its_size(name):
    paper, quick = of_both(name)
    smaller = {"title", "note", "downloads", "texts.passages", "statistics.queries", "comparisons", "rows"}
    smaller |= {"query_sets.validation.hits", "encode.shards", "encode.passages", "tune.max_cutoff"}
    smaller |= {"latency.query_set", "latency.warm_up", "latency.measured", "evaluate.headline"}
    smaller |= {f"rows.{{model.prefix}}-{{first_stage}}-{{keep}}.for.{key}" for key in ("model", "first_stage")}
    assert quick.keys() < paper.keys()  # nothing that the paper's does not have
    assert {key for key in quick if quick[key] != paper[key]} <= smaller
    assert all(entry in paper["downloads"] for entry in quick["downloads"])
    assert quick["encode.passages"] == "candidates" and quick["evaluate.headline"] == "dev-small"


def test_quick_begins_with_the_authors_weights_and_has_every_r_on_each_first_stage():
    experiments = load_experiments([EXPERIMENTS])
    for name, stages in (("quick", ["bm25", "doctttttquery"]), ("quick-bm25", ["bm25"])):
        quick = experiments[name]
        assert [(model["id"], model["loss"], model["tolerance"]) for model in quick["models"]] == [
            ("authors", None, 0.004),
            ("paper", "cross-entropy", 0.01),
        ]
        assert [stage["id"] for stage in quick["first_stages"]] == stages
        systems = [(row["model"], row["first_stage"], row["keep"]) for row in quick["rows"] if row["kind"] == "model"]
        assert systems == [
            (model, stage, keep) for model in ("authors", "paper") for stage in stages for keep in ("full", 2000, 1000, 100)
        ]
        assert [one["id"] for one in quick["query_sets"] if one["purpose"] == "test"] == ["dev-small", "dl19", "dl20"]


def test_quick_on_bm25_is_quick_without_the_other_first_stage():
    experiments = load_experiments([EXPERIMENTS])
    both, one = experiments["quick"], experiments["quick-bm25"]
    differ = {key for key in both if both[key] != one[key]}
    assert differ == {"title", "downloads", "first_stages", "comparisons", "rows"}
    assert one["rows"] == [row for row in both["rows"] if "doctttttquery" not in row["id"]]
    assert not any("doctttttquery" in str(one[key]) or "predicted" in str(one["downloads"]) for key in ("rows", "comparisons"))


def test_a_number_of_quick_that_was_published_for_its_query_sets_gets_a_verdict():
    sets = {"dev-small", "dl19", "dl20"}
    rows = load_experiments([EXPERIMENTS])["quick"]["rows"]
    judged = {
        row["id"]
        for row in rows
        if any(entry["query_set"] in sets and entry["tolerance"] is not None for entry in row["published"])
    }
    assert judged == {"bm25", "doctttttquery", "doctttttquery-run", "bert-large"}  # EPIC's own are of dev-judged


def test_smoke_says_that_its_numbers_are_not_comparable():
    note = load_experiments([EXPERIMENTS])["smoke"]["note"]
    assert "never comparable" in note and "MS MARCO" in note and "Natural Questions" in note


PRODUCT, BERT = 5, 10  # places of rows in smoke.yaml, as it is written
DOWNLOAD = {"file": "a.zip", "urls": ["https://example.org/a.zip"], "bytes": None, "md5": "0" * 32}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["train"].update(batchsize=1), r"mine\.yaml line \d+: train\.batchsize: .*'batchsize' was unexpected"),
        (lambda s: s["train"].pop("patience"), r"mine\.yaml line \d+: train: 'patience' is a required property"),
        (lambda s: s.update(extra=1), r"mine\.yaml line \d+: extra: there is no such key; there are title, "),
        (lambda s: s.pop("rows"), r"mine\.yaml line 1: the experiment: the key rows is missing"),
        (lambda s: s.update(rows="none"), r"mine\.yaml line \d+: rows: expected a list"),
        (lambda s: s["encoders"][0].update(sha256="abc"), r"models\.paper\.encoder\.sha256: 'abc' does not match"),
        (lambda s: s["encoders"][0].update(sha256=None), r"models\.paper\.encoder\.sha256: null is for a Hugging Face name"),
        (
            lambda s: s["encoders"][0].update(tokenizer={"source": "a/b"}),
            r"models\.paper\.encoder\.tokenizer: 'revision' is a required",
        ),
        (lambda s: s["encoders"].append(s["encoders"][0] | {"id": "minilm"}), r"encoders\.minilm: the id minilm is given twice"),
        (lambda s: s["models"][0].update(encoder="bert"), r"models\.paper\.encoder: no bert in encoders; there are minilm"),
        (
            lambda s: find(s["query_sets"], s["latency"]["query_set"]).update(hits=99),
            r"latency\.query_set: test has 99 hits; unpruned rows may be timed with \d+",
        ),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100, 0]),
            r"rows\.epic-bm25-r0\.keep: 0 is less than the minimum of 1",
        ),
        (lambda s: s["rows"][PRODUCT]["for"].pop("keep"), r"no \{keep\} here; there are \{model\}"),
        (lambda s: s["rows"][0].update(keep=10), r"rows\.bm25\.keep: a row of the kind first-stage has no keep"),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(first_stage=["bm26"]),
            r"rows\..*\.for\.first_stage: no bm26 in first_stages; there are bm25, doc",
        ),
        (
            lambda s: s["rows"][0].update(first_stage="bm26"),
            r"rows\.bm25\.first_stage: no bm26 in first_stages; there are bm25, doctttttquery",
        ),
        (lambda s: s["rows"][PRODUCT]["for"].update(model=[]), r"rows\..*\.for\.model: expected a list of one or more"),
        (lambda s: s["rows"][PRODUCT]["for"].update(seed=[1]), r"rows\..*\.for: expected lists of model, first_stage, keep"),
        (
            lambda s: s["rows"][PRODUCT].update(published="epik-{first_stage}"),
            r"rows\..*\.published: published\.yaml has no epik-bm25",
        ),
        (
            lambda s: s["rows"][0].update(tolerance={"paper": 0.1}),
            r"rows\.bm25\.tolerance: there is none for the value of authors' README in bm25",
        ),
        (lambda s: s["tune"].update(max_cutoff=201), r"tune\.max_cutoff: 201 is more than the hits of validation \(200\)"),
        (
            lambda s: s["first_stages"][2].update(weighted_text={"source": "path:x"}),
            r"first_stages\.doc2query: .* exclude each other",
        ),
        (lambda s: s["rows"][BERT].pop("runs"), r"rows\.bert-large\.runs: a row of the kind run-file needs runs"),
        (
            lambda s: s["rows"][BERT]["runs"][0].update(query_set="train"),
            r"rows\.bert-large\.runs\.0\.query_set: train is for train, expected a set for test",
        ),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100, 5000]),
            r"5000 is more than the largest of encode\.keep \(2000\)",
        ),
        (
            lambda s: (s["encode"].pop("keep"), s["encode"].update(max_terms=2000)),
            r"line \d+: encode\.max_terms: Additional properties .*; say keep, a list of all numbers of kept terms: \[100, 1000, 2000\]",
        ),
        (lambda s: s["encode"].update(keep=[]), r"encode\.keep: \[\] should be non-empty"),
        (lambda s: s["encode"].update(keep=2000), r"encode\.keep: 2000 is not of type 'array'"),
        (lambda s: s["encode"].update(keep=[100, 70_000]), r"encode\.keep\.1: 70000 is greater than .*term ids have 16 bits"),
        (lambda s: s["encode"].update(keep=[0, 2000]), r"encode\.keep\.0: 0 is less than the minimum of 1"),
        (lambda s: s["encode"].update(keep=[1000, 100, 2000]), r"encode\.keep: \[1000, 100, 2000\] do not ascend; write \[100, "),
        (lambda s: s["encode"].update(keep=[100, 2000, 2000]), r"encode\.keep: .* do not ascend; write \[100, 2000\]"),
        (lambda s: s["encode"].update(keep=list(range(1, 18))), r"encode\.keep: .* is too long .*a folder in every shard"),
        (lambda s: s["rows"].append(copy.deepcopy(s["rows"][0])), r"rows\.bm25\.id: the id bm25 is given twice"),
        (lambda s: s["comparisons"][1].update(baseline=["nope"]), r"comparisons\.1: no nope in rows"),
        (lambda s: s["comparisons"][1].update(baseline=["tk-3"]), r"comparisons\.1: tk-3 is not run here"),
        (lambda s: s["comparisons"][1].update(baseline=["bm25", "bm25"]), r"comparisons\.1: the pair .* is given twice"),
        (lambda s: s["comparisons"][1].update(margin=0), r"comparisons\.1\.margin: 0 is less than or equal to the minimum of 0"),
        (lambda s: s["comparisons"][0].update(each="row"), r"comparisons\.0\.each: a rule is for each model"),
        (lambda s: s["comparisons"][0].pop("system"), r"comparisons\.0: .* there is no system"),
        (
            lambda s: s["comparisons"][0]["system"].update(kept=1),
            r"comparisons\.0\.system: no key kept; there are model, first_stage, keep",
        ),
        (
            lambda s: s["comparisons"][0].update(system={"first_stage": "deepct"}),
            r"comparisons\.0\.system\.first_stage: no row that re-ranks has the first_stage deepct",
        ),
        (lambda s: s["comparisons"][0].update(baseline="the-other"), r"comparisons\.0\.baseline: expected own-first-stage"),
        (
            lambda s: s["texts"]["passages"].append({"query_set": "nope", "query": "1"}),
            r"texts\.passages\.2: no nope in query_sets",
        ),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100, "all"]),
            r"rows\.epic-bm25-rall\.keep: 'all' does not match '\^full\$'",
        ),
        (lambda s: s["triples"].update(seeed=1), r"triples\.seeed: .*'seeed' was unexpected"),
        (lambda s: s["triples"].pop("depth"), r"triples\.depth: the source sampled needs depth"),
        (lambda s: s["triples"].update(dataset="x"), r"triples\.dataset: the source sampled has no dataset"),
        (lambda s: s["triples"].update(query_set="test"), r"triples\.query_set: test is for test, expected a set for train"),
        (lambda s: s["evaluate"].update(headline="validation"), r"evaluate\.headline: validation is for validation"),
        (lambda s: s["query_sets"][2].update(relevance=2), r"evaluate\.headline: the table shows MRR@10 from grade 1 on"),
        (
            lambda s: s["models"][0].update(family="epik"),
            r"models\.paper\.family: there is no family epik; there are (\w+, )*epic",
        ),
        (
            lambda s: s["models"][0]["settings"].update(formulation="other"),
            r"models\.paper\.settings\.formulation: 'other' is not one of",
        ),
        (lambda s: s["models"][0]["settings"].update(layers=1), r"models\.paper\.settings: .*'layers' was unexpected"),
        (
            lambda s: s["models"][0].update(encoder=None),
            r"models\.paper\.encoder: None is not of type 'object' \(EPIC starts from a pre-trained",
        ),
        (
            lambda s: s["models"][0].update(start={"source": "path:epic.p", "md5": None}),
            r"models\.paper\.settings\.formulation: 'released' was expected \(the authors' weights are of the formulation released\)",
        ),
        (
            lambda s: s["models"][1].update(start={"source": "epic.p", "md5": None}),
            r"models\.released\.start\.source: 'epic\.p' does not match",
        ),
        (
            lambda s: s["models"][1]["settings"].update(released_batches=True),
            r"models\.released\.start: None is not of type 'object' \(released_batches is for the authors' weights\)",
        ),
        (
            lambda s: (
                s["models"][1]["settings"].update(released_batches=True),
                s["models"][1].update(start={"source": "path:epic.p", "md5": None}),
            ),
            r"models\.released\.loss: None was expected \(released_batches is for weights that are not trained here\)",
        ),
        (
            lambda s: s["models"][1]["settings"].update(released_batches="yes"),
            r"models\.released\.settings\.released_batches: 'yes' is not of type 'boolean'",
        ),
        (lambda s: s["models"][1].update(loss="triplet"), r"models\.released\.loss: 'triplet' is not one of"),
        (lambda s: s["train"].update(validate_every=200), r"train\.validate_every: 200 is no multiple of batch_size \(16\)"),
        (
            lambda s: s["models"][1].update(train={"batch_size": 5}),
            r"models\.released\.train\S*: 192 is no multiple of batch_size \(5\)",
        ),
        (lambda s: s["models"][1].update(train={"warmup": 5}), r"models\.released\.train\.warmup: .*'warmup' was unexpected"),
        (
            lambda s: s["models"][1].update(tune={"max_cutoff": 201}),
            r"models\.released\.tune\.max_cutoff: 201 is more than the hits",
        ),
        (
            lambda s: s["models"][0].update(train={"validation_first_stage": "x"}),
            r"models\.paper\.train\.validation_first_stage: no x in",
        ),
        (lambda s: s["train"].update(precision="int8"), r"train\.precision: 'int8' is not one of"),
        (lambda s: s["train"].update(precision="tf32"), r"train\.precision: 'tf32' is not one of"),
        (lambda s: s["compute"].update(precision="float16"), r"compute\.precision: mixed precision is for the device cuda"),
        (lambda s: s.update(models="text"), r"models: expected a list"),
        (lambda s: s["first_stages"].append(None), r"first_stages\.4: expected keys and values, found None"),
        (lambda s: s["encoders"][0].update(id=5), r"encoders\.5: expected an id, a text; found 5"),
        (lambda s: s["rows"][0].update(id=5), r"rows\.5\.id: a row needs an id, a text; found 5"),
        (lambda s: s["encoders"].append(s["encoders"][0] | {"id": "other"}), r"encoders\.other: no model has this encoder"),
        (lambda s: s.update(published_on={}), r"published_on: there is no such key"),
        (lambda s: s.update(comparisons=None), r"comparisons: expected a list"),
        (lambda s: s["rows"][PRODUCT].update(model="x"), r"\.model: a row with `for` has it there, and not beside it"),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", "full"]),
            r"\.for\.keep: expected a list of one or more, each once",
        ),
        (
            lambda s: s["rows"][PRODUCT].update(label="{Model.label}"),
            r"\.label: '\{Model\.label\}' has a brace that is part of no field",
        ),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100.0]),
            r"rows\.epic-bm25-r100\.0\.id: .epic-bm25-r100\.0. does not match",
        ),
        (lambda s: s["data"].update(count=336.0), r"data\.count: 336\.0 is not of type 'integer'"),
        (lambda s: s["rows"][0].update(published=None), r"rows\.bm25\.published: expected a name of published\.yaml"),
        (lambda s: s["rows"][1].update(tolerance="abc"), r"rows\.doc2query\.tolerance: 'abc' is none for the value of paper"),
        (lambda s: s["rows"][1].update(tolerance=-1), r"rows\.doc2query\.tolerance: -1 is none"),
        (lambda s: s["rows"][0]["tolerance"].update(me=1), r"rows\.bm25\.tolerance: me published nothing of bm25"),
        (
            lambda s: s["comparisons"][0]["system"].update(model="paper"),
            r"comparisons\.0\.system: a rule for each model names no model",
        ),
        (
            lambda s: s["comparisons"][0]["system"].update(keep=["full", 1001]),
            r"system\.keep: no row that re-ranks has the keep 1001",
        ),
        (lambda s: s["comparisons"][0].update(system=None), r"comparisons\.0\.system: expected what a row must have"),
        (
            lambda s: s["comparisons"][1].update(baseline=["epic-bm25-full"]),
            r"comparisons\.1: epic-bm25-full is compared with itself",
        ),
        (lambda s: s["models"][0].update(family="epic.rankers.epic"), r"name a family of this package by its last word: epic"),
        (
            lambda s: s["rows"][0].update(id="together"),
            r"rows\.together\.id: no row can be called together: the latencies of several",
        ),
        (lambda s: s["rows"][0].update(id="released"), r"rows\.released\.id: no row can be called released: the latencies of"),
        (lambda s: s["rows"][0].update(id="first-stages"), r"rows\.first-stages\.id: no row can be called first-stages"),
        (lambda s: s["keep"].append("stores"), r"keep: \['stores', 'stores'\] has non-unique elements"),
        (
            lambda s: s.update(keep=["expanded"]),
            r"keep\.expanded: 'expanded' is not one of \['stores'\]|keep\.0: 'expanded' is not one of",
        ),
        (lambda s: s["query_sets"].pop(1), r"query_sets: exactly one set must have the purpose validation"),
        # numbers: whole, finite, within bounds that say why
        (
            lambda s: s["encode"].update(shards=10_000_000),
            r"encode\.shards: 10000000 is greater than the maximum of 4096 \(each shard is a job, and",
        ),
        (lambda s: s["encode"].update(shards=3.0), r"encode\.shards: 3\.0 is not of type 'integer'"),
        (lambda s: s["encode"].update(shards=0), r"encode\.shards: 0 is less than the minimum of 1 \(each shard"),
        (lambda s: s["data"].update(count=1e308), r"data\.count: 1e\+308 is not of type 'integer'"),
        (lambda s: s["data"].update(count=True), r"data\.count: True is not of type 'integer'"),
        (lambda s: s["first_stages"][0].update(k1=math.nan), r"first_stages\.bm25\.k1: nan is no finite number"),
        (lambda s: s["first_stages"][0].update(k1=math.inf), r"first_stages\.bm25\.k1: inf is no finite number"),
        (lambda s: s["first_stages"][0].update(k1=1e308), r"k1: 1e\+308 is greater than the maximum of 1000 \(a larger k1"),
        (lambda s: s["first_stages"][0].update(b=math.nan), r"first_stages\.bm25\.b: nan is no finite number"),
        (lambda s: s["evaluate"].update(alpha=math.nan), r"evaluate\.alpha: nan is no finite number"),
        (
            lambda s: s["evaluate"].update(alpha=1),
            r"evaluate\.alpha: 1 is greater than or equal to the maximum of 1 \(it is a probability\)",
        ),
        (lambda s: s["comparisons"][1].update(margin=math.inf), r"comparisons\.1\.margin: inf is no finite number"),
        (lambda s: s["train"].update(learning_rate=math.nan), r"train\.learning_rate: nan is no finite number"),
        (lambda s: s["train"].update(learning_rate=2), r"train\.learning_rate: 2 is greater than the maximum of 1"),
        (lambda s: s["rows"][1].update(tolerance=math.nan), r"rows\.doc2query\.tolerance: nan is none"),
        (lambda s: s["rows"][1].update(tolerance=2), r"tolerance: 2 is greater than the maximum of 1 \(measures lie"),
        (lambda s: s["models"][0].update(seed=2**32), r"models\.paper\.seed: 4294967296 is greater .* \(a seed has 32 bits\)"),
        (
            lambda s: s["train"].update(max_validations=10**6, validate_every=1600),
            r"train\.max_validations: 1600000000 triples .*no file of triples has so many",
        ),
        (lambda s: s["rows"][PRODUCT]["for"].update(keep=list(range(1, 301))), r"for: 1200 rows are more than the 1000"),
        (lambda s: s["rows"][PRODUCT]["for"].update(keep=list(range(1, 3000))), r"for\.keep: expected a list of one or more"),
        # names: once, visible, without blanks
        (
            lambda s: s["query_sets"][0].update(id="train\n"),
            r"query_sets\.train\s+\.id: 'train\\n' holds the character '\\n', which cannot be seen",
        ),
        (lambda s: s["models"][0].update(label="EP\x01IC"), r"models\.paper\.label: 'EP\\x01IC' holds the character"),
        (lambda s: s["models"][0].update(label="EP\u202eIC"), r"holds the character '\\u202e'"),
        (lambda s: s["models"][0].update(label="EP\u00a0IC"), r"holds the character '\\xa0'"),
        (lambda s: s["models"][0].update(label=" "), r"models\.paper\.label: ' ' is empty, or has blanks around it"),
        (lambda s: s["models"][0].update(label="EPIC "), r"models\.paper\.label: 'EPIC ' is empty, or has blanks around it"),
        (lambda s: s.update(title="x" * 2001), r"title: 'x+\.\.\. has 2001 letters"),
        (lambda s: s.update({"ti\ttle": 1}), r"'ti\\ttle' holds the character '\\t'"),
        (lambda s: s["texts"]["queries"].append("a\0b"), r"texts\.queries\.3: .* holds the character"),
        (lambda s: s["texts"]["queries"].append(s["texts"]["queries"][0]), r"texts: how expensive .* is given twice"),
        (lambda s: s["statistics"]["queries"].append(s["statistics"]["queries"][0]), r"statistics: path:.* is given twice"),
        (lambda s: s["downloads"].extend([copy.deepcopy(DOWNLOAD), DOWNLOAD]), r"downloads: a\.zip is given twice"),
        (lambda s: s["downloads"].append(DOWNLOAD | {"md5": "0" * 32 + "x"}), r"downloads\.0\.md5: .* does not match"),
        (
            lambda s: s["rows"][BERT]["runs"].append(dict(s["rows"][BERT]["runs"][0])),
            r"rows\.bert-large\.runs: there are two runs of test",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        load(changed(tmp_path, change))


def test_the_line_that_is_named_is_the_one_a_person_wrote(tmp_path):
    text = (EXPERIMENTS / "smoke.yaml").read_text()

    def refused(old, new):
        path = tmp_path / "mine.yaml"
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(InputError) as error:
            load(path)
        line = int(re.search(r"mine\.yaml line (\d+): ", str(error.value))[1])
        return path.read_text().splitlines()[line - 1]

    assert "5000" in refused("keep: [full, 2000, 1000, 100]}\n    id:", "keep: [full, 2000, 1000, 100, 5000]}\n    id:")
    assert "sha256: 0" in refused("sha256: 5", "sha256: 0x")  # written once, though two models have it
    assert "lable:" in refused('label: "{model.label}', 'lable: "{model.label}')  # one line, sixteen rows
    assert "patience: 0" in refused("patience: 2", "patience: 0")
    assert "says: " in refused('says: "{model.label} against its', 'says: "{model.lable} against its')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected conditions and rows"),
        ("conditions: {}\nrows: {bm25: null}\n", "line 2: expected a list of values for bm25"),
        ("conditions: {}\nrows:\n  bm25: [a]\n", "line 3: bm25: expected source, query_set, metric and value"),
        (
            "conditions: {}\nrows:\n  bm25:\n    - {source: p, query_set: q, metric: RR10, value: 1}\n",
            r"published\.yaml line 4: bm25: expected a number of one of RR@10, .*found 1 of RR10",
        ),
    ],
)
def test_a_fault_in_the_published_values_is_named_there(tmp_path, text, message):
    (tmp_path / "published.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_published(tmp_path / "published.yaml")


def test_metrics_of_published_values_are_those_of_the_schema():
    values = schema()["properties"]["rows"]["items"]["properties"]["published"]["items"]["properties"]
    assert tuple(values["metric"]["enum"]) == METRICS


def test_a_key_given_twice_and_broken_yaml_are_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("title: a\ntitle: b\n")
    with pytest.raises(InputError, match="'title' is given twice"):
        load(path)
    path.write_text("title: [a\n")
    with pytest.raises(InputError, match=r"mine\.yaml line 2: not valid YAML"):
        load(path)


def test_a_note_may_have_lines_and_a_query_the_letters_of_its_language(tmp_path):
    def change(settings):
        settings["note"] = "two\nlines\n"
        settings["texts"]["queries"] = ["می\u200cخواهم"]

    assert load(changed(tmp_path, change))["texts"]["queries"] == ["می\u200cخواهم"]


def test_a_rate_without_a_point_is_a_number(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text((EXPERIMENTS / "smoke.yaml").read_text().replace("learning_rate: 5.0e-5", "learning_rate: 5e-5"))
    assert load(path) == load(EXPERIMENTS / "smoke.yaml")


def test_a_published_value_that_is_not_finite_is_refused(tmp_path):
    (tmp_path / "published.yaml").write_text(
        "conditions: {}\nrows:\n  bm25:\n    - {source: p, query_set: q, metric: RR@10, value: .nan}\n"
    )
    with pytest.raises(InputError, match="expected a number of one of .*found nan of RR@10"):
        read_published(tmp_path / "published.yaml")


def test_a_broken_experiment_stops_no_other(tmp_path):
    shutil.copy(EXPERIMENTS / "smoke.yaml", tmp_path / "good.yaml")
    (tmp_path / "bad.yaml").write_text("title: [a\n")
    (tmp_path / "My.exp.yaml").write_text("title: other\n")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "smoke.yaml").write_text("title: other\n")
    sound, broken = sound_and_broken([EXPERIMENTS, tmp_path])
    assert set(sound) == {"good", "mini", "mini-seeds", "paper", "quick", "quick-bm25"} and sound["good"] == read_sound()
    assert set(broken) == {"bad", "My.exp", "folder", "smoke"}  # nobody can tell which smoke is meant
    assert "bad.yaml line 2: not valid YAML" in broken["bad"] and "named smoke exists already" in broken["smoke"]
    with pytest.raises(InputError, match="rename the file"):
        load_experiments([EXPERIMENTS, tmp_path])


def read_sound():
    return load(EXPERIMENTS / "smoke.yaml")


def test_every_bound_says_why_and_every_number_has_bounds():
    def walk(node, path):
        if isinstance(node, dict):
            kinds = {node.get("type")} if isinstance(node.get("type"), str) else set(node.get("type") or [])
            if kinds & {"integer", "number"} and "type" in node:
                assert node.keys() & {"minimum", "exclusiveMinimum"} and node.keys() & {"maximum", "exclusiveMaximum"}, path
                assert node["because"], path
            for key, value in node.items():
                walk(value, f"{path}.{key}")
        elif isinstance(node, list):
            for position, value in enumerate(node):
                walk(value, f"{path}[{position}]")

    walk(schema(), "$")


def test_an_experiment_of_the_same_name_elsewhere_is_refused(tmp_path):
    (tmp_path / "smoke.yaml").write_text("title: other\n")
    with pytest.raises(InputError, match="named smoke exists already"):
        load_experiments([EXPERIMENTS, tmp_path])


def test_a_name_that_no_path_could_hold_is_refused(tmp_path):
    (tmp_path / "My.exp.yaml").write_text("title: other\n")
    with pytest.raises(InputError, match="rename the file"):
        load_experiments([tmp_path])


def test_the_schema_is_closed_at_every_level():
    theirs = ("$.properties.models.items.properties.settings", "$.properties.published_on.properties.encoders")

    def walk(node, path):
        if isinstance(node, dict):
            if "object" in (node.get("type") or []) or node.get("type") == "object":
                assert node.get("additionalProperties") is False or path in theirs, path  # a family's own, and names of families
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
    shown = re.compile(r"(prefix|label|group|tolerance): ")  # how rows are shown and judged: explained above the models
    assert [line for line in without_origin(settings[settings.index("\ndata:") :]) if not shown.match(line)] == []
    assert len((EXPERIMENTS / "paper.yaml").read_text().splitlines()) <= 400  # 7 models of 4 families, each setting on its line
    assert without_origin("train:\n  patience: 20\n  batch_size: 16  # text\n") == ["patience: 20"]
