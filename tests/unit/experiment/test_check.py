"""Experiments: closed schema, references, and the names of what exists. Rows and comparisons are in `test_check_rows`."""

import copy
import math
import re
import shutil

import pytest

from epic.core.files import InputError
from epic.experiment.check import load_experiments, read_published, sound_and_broken
from epic.experiment.lookup import find
from tests.written import EXPERIMENTS, changed, load, schema

DOWNLOAD = {"file": "a.zip", "urls": ["https://example.org/a.zip"], "bytes": None, "md5": "0" * 32}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["train"].update(batchsize=1), r"mine\.yaml line \d+: train\.batchsize: .*'batchsize' was unexpected"),
        (lambda s: s["train"].pop("patience"), r"mine\.yaml line \d+: train: 'patience' is a required property"),
        (lambda s: s.update(extra=1), r"mine\.yaml line \d+: extra: there is no such key; there are title, "),
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
        (lambda s: s["tune"].update(max_cutoff=201), r"tune\.max_cutoff: 201 is more than the hits of validation \(200\)"),
        (
            lambda s: s["first_stages"][2].update(weighted_text={"source": "path:x"}),
            r"first_stages\.doc2query: .* exclude each other",
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
        (
            lambda s: s["texts"]["passages"].append({"query_set": "nope", "query": "1"}),
            r"texts\.passages\.2: no nope in query_sets",
        ),
        (lambda s: s["triples"].update(seeed=1), r"triples\.seeed: .*'seeed' was unexpected"),
        (lambda s: s["triples"].pop("depth"), r"triples\.depth: the source sampled needs depth"),
        (lambda s: s["triples"].pop("positives"), r"triples\.positives: the source sampled needs positives"),
        (lambda s: s["triples"].update(positives="all"), r"triples\.positives: 'all' is not one of \['judged', 'retrieved'\]"),
        (lambda s: s["triples"].update(dataset="x"), r"triples\.dataset: the source sampled has no dataset"),
        (lambda s: s["triples"].update(query_set="test"), r"triples\.query_set: test is for test, expected a set for train"),
        (lambda s: s["evaluate"].update(headline="validation"), r"evaluate\.headline: validation is for validation"),
        (lambda s: s["query_sets"][2].update(relevance=2), r"evaluate\.headline: the table shows MRR@10 from grade 1 on"),
        (
            lambda s: (s["query_sets"][2].update(relevance=2), s["evaluate"].update(measure="Rprec", measures=["Rprec"])),
            r"evaluate\.headline: the table shows R-prec from grade 1 on; choose a set with relevance: 1",
        ),
        (lambda s: s["evaluate"].pop("measure"), r"mine\.yaml line \d+: evaluate: 'measure' is a required property"),
        (lambda s: s["evaluate"].pop("selection"), r"evaluate: 'selection' is a required property"),
        (lambda s: s["evaluate"].pop("measures"), r"evaluate: 'measures' is a required property"),
        (
            lambda s: s["evaluate"].update(measure="MRR@10"),
            r"evaluate\.measure: 'MRR@10' does not match .* \(there are RR, RR@N, AP, Rprec, P@N, nDCG, nDCG@N and R@N\)",
        ),
        (lambda s: s["evaluate"].update(measure="RR(rel=2)"), r"evaluate\.measure: 'RR\(rel=2\)' does not match"),
        (lambda s: s["evaluate"].update(selection="R@hits"), r"evaluate\.selection: 'R@hits' does not match"),
        (lambda s: s["evaluate"].update(measures=["RR@10", "P"]), r"evaluate\.measures\.1: 'P' does not match .*and R@hits\)"),
        (lambda s: s["evaluate"].update(measures=["RR@10"] * 2), r"evaluate\.measures: .* has non-unique elements"),
        (
            lambda s: s["evaluate"].update(measures=["RR", "AP"]),
            r"evaluate\.measures: RR@10, the measure of the table, is not among RR, AP",
        ),
        (
            lambda s: s["evaluate"].update(measures=["RR@10", "P@500", "R@1000"]),
            r"evaluate\.measures\.2: R@1000 is deeper than the hits of test \(200\); R@hits is recall at the depth of each set",
        ),
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
            lambda s: s["encoders"][0].update(tokenizer={"source": "a/b", "revision": "main"}),
            r"mine\.yaml line \d+: models\.paper\.encoder\.tokenizer\.revision: main does not pin the tokenizer",
        ),
        (
            lambda s: find(s["models"], "duet")["settings"].update(pool=500),
            r"mine\.yaml line \d+: models\.duet\.settings\.passage_words: a passage of \d+ words has no pool of 500 windows",
        ),
        (
            lambda s: find(s["models"], "cross")["settings"].update(query_pieces=157),
            r"mine\.yaml line \d+: models\.cross\.settings\.query_pieces: of 160 word-pieces in all",
        ),
        (
            lambda s: find(s["models"], "tk")["settings"].update(projection=33),
            r"mine\.yaml line \d+: models\.tk\.settings\.projection: heads \(8\) must divide projection \(33\)",
        ),
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
        (lambda s: s["encoders"].append(s["encoders"][0] | {"id": "other"}), r"encoders\.other: no model has this encoder"),
        (lambda s: s.update(published_on={}), r"published_on: there is no such key"),
        (lambda s: s["data"].update(count=336.0), r"data\.count: 336\.0 is not of type 'integer'"),
        (lambda s: s["models"][0].update(family="epic.rankers.epic"), r"name a family of this package by its last word: epic"),
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
        (lambda s: s["train"].update(learning_rate=math.nan), r"train\.learning_rate: nan is no finite number"),
        (lambda s: s["train"].update(learning_rate=2), r"train\.learning_rate: 2 is greater than the maximum of 1"),
        (lambda s: s["models"][0].update(seed=2**32), r"models\.paper\.seed: 4294967296 is greater .* \(a seed has 32 bits\)"),
        (
            lambda s: s["train"].update(max_validations=10**6, validate_every=1600),
            r"train\.max_validations: 1600000000 triples .*no file of triples has so many",
        ),
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
    assert "query_pieces: 157" in refused("query_pieces: 62", "query_pieces: 157")
    assert "says: " in refused('says: "{model.label} against its', 'says: "{model.lable} against its')


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


def test_a_broken_experiment_stops_no_other(tmp_path):
    shutil.copy(EXPERIMENTS / "smoke.yaml", tmp_path / "good.yaml")
    (tmp_path / "bad.yaml").write_text("title: [a\n")
    (tmp_path / "My.exp.yaml").write_text("title: other\n")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "smoke.yaml").write_text("title: other\n")
    sound, broken = sound_and_broken([EXPERIMENTS, tmp_path])
    assert (
        set(sound) == {"good", "covid", "covid-dph", "mini", "mini-seeds", "paper", "quick", "quick-bm25"}
        and sound["good"] == read_sound()
    )
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
    named = "$.$defs.conditions.properties"
    theirs = (
        "$.properties.models.items.properties.settings",
        "$.properties.first_stages.items.properties.run",
        f"{named}.encoders",
        f"{named}.settings",
        f"{named}.settings.additionalProperties",
    )

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


def test_published_values_of_another_collection_stand_in_groups_with_their_own_conditions(tmp_path):
    def read(text):
        (tmp_path / "published.yaml").write_text("conditions: {documents: a}\nrows: {one: []}\n" + text)
        return read_published(tmp_path / "published.yaml")

    assert read("") == {"conditions": {"documents": "a"}, "rows": {"one": []}, "conditions_of": {}}
    value = "{source: s, query_set: q, metric: RR, value: 0.5}"
    found = read(f"elsewhere:\n  covid:\n    conditions: {{documents: b}}\n    rows:\n      two: [{value}]\n")
    assert found["conditions_of"] == {"two": {"documents": "b"}} and found["rows"]["two"][0]["value"] == 0.5
    for group, said in (
        ("{rows: {}}", r"line 4: expected conditions and rows"),
        ("{conditions: {}, rows: {one: []}}", r"line 4: one is given twice"),
        ("{conditions: {}, rows: {two: [{source: s}]}}", r"line 4: two: expected source, query_set, metric and value"),
    ):
        with pytest.raises(InputError, match=said):
            read(f"elsewhere:\n  covid: {group}\n")
