"""Our own experiments: the paper's rows and values, where its settings come from, and in what the others differ from it."""

import re

import pytest
import yaml

from epic.experiment.check import load_experiments
from epic.experiment.conditions import row_conditions
from epic.experiment.lookup import find
from epic.report.differences import flat
from tests.written import EXPERIMENTS

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
    assert on == [(name, "authors") for name in ("covid-dph", "covid", "paper", "quick-bm25", "quick")]


def test_seeds_of_mini_differ_in_nothing_but_the_seed():
    experiments = load_experiments([EXPERIMENTS])
    mini, seeds = experiments["mini"], experiments["mini-seeds"]
    assert {key for key in mini if mini[key] != seeds[key]} == {"title", "note", "models", "comparisons", "rows"}
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


def test_the_two_experiments_on_trec_covid_differ_in_their_first_stage_alone():
    experiments = load_experiments([EXPERIMENTS])
    bm25, dph = experiments["covid"], experiments["covid-dph"]
    assert {key for key in bm25 if bm25[key] != dph[key]} == {"title", "note", "first_stages", "train", "comparisons", "rows"}
    assert bm25["train"] | {"validation_first_stage": "dph"} == dph["train"]
    assert bm25["compute"]["device"] == "cpu" and bm25["encode"]["passages"] == "candidates"
    assert [model["loss"] for model in bm25["models"]] == [None]  # nothing is trained, and the cut-off is fixed
    assert bm25["tune"] == {"min_cutoff": 30, "max_cutoff": 30} and {one["hits"] for one in bm25["query_sets"]} == {30}


def test_only_on_the_published_first_stage_rows_of_trec_covid_get_a_verdict():
    experiments = load_experiments([EXPERIMENTS])
    found = {
        name: [row_conditions(experiments[name], row) for row in experiments[name]["rows"]] for name in ("covid", "covid-dph")
    }
    assert found == {"covid": [["collection"], ["first stage"], ["first stage"]], "covid-dph": [[], [], []]}
    values = [entry for row in experiments["covid-dph"]["rows"] for entry in row["published"]]
    assert [entry["value"] for entry in values] == [0.766833, 0.684, 0.817889, 0.724, 0.8215, 0.7]
    assert {entry["tolerance"] for entry in values} == {0.005, 0.02}


def test_every_setting_of_trec_covid_says_where_its_value_comes_from():
    for name in ("covid", "covid-dph"):
        text = (EXPERIMENTS / f"{name}.yaml").read_text()
        first, last = text[text.index("\ndata:") :].split("\n# Nothing is trained.")
        shown = re.compile(r"(prefix|label|group|tolerance|comparisons|rows|kind|first_stage|id|published): ")
        found = without_origin(first + last[last.index("\nencode:") : last.index("\ncomparisons:")])
        assert [line for line in found if not shown.match(line.removeprefix("- "))] == []


def test_smoke_says_that_its_numbers_are_not_comparable():
    note = load_experiments([EXPERIMENTS])["smoke"]["note"]
    assert "never comparable" in note and "MS MARCO" in note and "Natural Questions" in note


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
