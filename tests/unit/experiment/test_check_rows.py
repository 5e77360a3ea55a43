"""Mistakes in rows and comparisons, and in the published values that rows name: each with file and key."""

import copy
import math

import pytest
import yaml

from epic.core.files import InputError
from epic.experiment.check import read_published
from epic.experiment.strict_schema import Validator
from tests.written import changed, load, schema

VALUE = {"source": "p", "query_set": "test", "metric": "AP", "value": 0.5, "tolerance": 0.01}
PRODUCT, BERT = 5, 10  # places of rows in smoke.yaml, as it is written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("rows"), r"mine\.yaml line 1: the experiment: the key rows is missing"),
        (lambda s: s.update(rows="none"), r"mine\.yaml line \d+: rows: expected a list"),
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
        (lambda s: s["rows"][BERT].pop("runs"), r"rows\.bert-large\.runs: a row of the kind run-file needs runs"),
        (
            lambda s: s["rows"][BERT]["runs"][0].update(query_set="train"),
            r"rows\.bert-large\.runs\.0\.query_set: train is for train, expected a set for test",
        ),
        (
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100, 5000]),
            r"5000 is more than the largest of encode\.keep \(2000\)",
        ),
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
            lambda s: s["rows"][PRODUCT]["for"].update(keep=["full", 2000, 1000, 100, "all"]),
            r"rows\.epic-bm25-rall\.keep: 'all' does not match '\^full\$'",
        ),
        (lambda s: s["rows"][0].update(id=5), r"rows\.5\.id: a row needs an id, a text; found 5"),
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
        (
            lambda s: s["rows"][0].update(id="together"),
            r"rows\.together\.id: no row can be called together: the latencies of several",
        ),
        (lambda s: s["rows"][0].update(id="released"), r"rows\.released\.id: no row can be called released: the latencies of"),
        (lambda s: s["rows"][0].update(id="first-stages"), r"rows\.first-stages\.id: no row can be called first-stages"),
        (lambda s: s["comparisons"][1].update(margin=math.inf), r"comparisons\.1\.margin: inf is no finite number"),
        (lambda s: s["rows"][1].update(tolerance=math.nan), r"rows\.doc2query\.tolerance: nan is none"),
        (
            lambda s: (s["rows"][0].pop("tolerance"), s["rows"][0].update(published=[VALUE | {"metric": "MRR@10"}])),
            r"rows\.bm25\.published\.0\.metric: 'MRR@10' does not match .* \(there are RR, RR@N, .*ms/query\)",
        ),
        (lambda s: s["rows"][1].update(tolerance=2), r"tolerance: 2 is greater than the maximum of 1 \(measures lie"),
        (lambda s: s["rows"][PRODUCT]["for"].update(keep=list(range(1, 301))), r"for: 1200 rows are more than the 1000"),
        (lambda s: s["rows"][PRODUCT]["for"].update(keep=list(range(1, 3000))), r"for\.keep: expected a list of one or more"),
        (
            lambda s: s["rows"][BERT]["runs"].append(dict(s["rows"][BERT]["runs"][0])),
            r"rows\.bert-large\.runs: there are two runs of test",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        load(changed(tmp_path, change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected conditions and rows"),
        ("conditions: {}\nrows: {bm25: null}\n", "line 2: expected a list of values for bm25"),
        ("conditions: {}\nrows:\n  bm25: [a]\n", "line 3: bm25: expected source, query_set, metric and value"),
        (
            "conditions: {}\nrows:\n  bm25:\n    - {source: p, query_set: q, metric: RR10, value: 1}\n",
            r"published\.yaml line 4: bm25: expected a number of RR, RR@N, AP, .*or ms/query, found 1 of 'RR10'",
        ),
    ],
)
def test_a_fault_in_the_published_values_is_named_there(tmp_path, text, message):
    (tmp_path / "published.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_published(tmp_path / "published.yaml")


METRICS = [
    "RR@10",
    "RR",
    "AP",
    "Rprec",
    "P@5",
    "nDCG",
    "nDCG@10",
    "R@1000",
    "RR(rel=2)@10",
    "AP(rel=12)",
    "P(rel=2)@5",
    "ms/query",
]
NO_METRICS = ["MRR", "RR10", "MAP", "P", "R", "Rprec@5", "nDCG(rel=2)@10", "RR(rel=1)", "RR@0", "RR@01", "R@hits", "AP ", "ms", 5]


@pytest.mark.parametrize(("metric", "known"), [(name, True) for name in METRICS] + [(name, False) for name in NO_METRICS])
def test_a_published_value_is_of_a_known_measure_wherever_it_stands(tmp_path, metric, known):
    entry = {"source": "p", "query_set": "q", "metric": metric, "value": 0.5}
    (tmp_path / "published.yaml").write_text(yaml.safe_dump({"conditions": {}, "rows": {"bm25": [entry]}}))
    part = schema()["properties"]["rows"]["items"]["properties"]["published"]["items"]["properties"]["metric"]
    assert Validator(part).is_valid(metric) == known
    if known:
        assert read_published(tmp_path / "published.yaml")["rows"]["bm25"] == [entry]
    else:
        with pytest.raises(InputError, match="expected a number of RR, "):
            read_published(tmp_path / "published.yaml")


def test_a_published_value_that_is_not_finite_is_refused(tmp_path):
    (tmp_path / "published.yaml").write_text(
        "conditions: {}\nrows:\n  bm25:\n    - {source: p, query_set: q, metric: RR@10, value: .nan}\n"
    )
    with pytest.raises(InputError, match="expected a number of RR, .*found nan of 'RR@10'"):
        read_published(tmp_path / "published.yaml")
