"""Generators of queries in an experiment: what their stages ask for, and what is refused."""

import copy
import re

import pytest
import yaml

from epic.core.files import InputError
from epic.experiment import first_stage_inputs, generation, inputs
from epic.experiment.check import SCHEMA, load_experiments
from epic.experiment.conditions import row_conditions
from epic.experiment.lookup import find, row_settings
from epic.experiment.problems import problems
from epic.experiment.wanted import Shards, Source
from tests.conftest import ROOT

GENERATOR = {
    "id": "t5", "source": "castorini/t5", "revision": "0123456789" * 4, "sha256": None, "top_k": 10, "max_input": 512, "max_output": 64,
    "batch": 8, "precision": "float32",
}  # fmt: skip
GENERATED = {"generate": "t5", "samples": 5, "seed": 1}


def written(generators=(GENERATOR,), predicted=GENERATED):
    """The experiment smoke, one of whose first stages generates."""
    said = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    said["first_stages"][1]["predicted_queries"] = predicted
    return said | ({"generators": list(generators)} if generators is not None else {})


def loaded(tmp_path, said):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(said))
    return load_experiments([tmp_path])["mine"]


def test_a_stage_that_generates_names_the_shards_of_its_generator(tmp_path):
    settings = loaded(tmp_path, written())
    wanted = Shards("generate.queries", {"generator": "t5", "samples": 5, "seed": 1})
    assert first_stage_inputs.expansion(settings, "doctttttquery") == {"predicted": wanted, "weighted": []}
    assert inputs.shown_predictions(settings) == wanted
    assert isinstance(first_stage_inputs.expansion(settings, "doc2query")["predicted"], Source)
    assert generation.used_by(settings, "t5") == ["doctttttquery"] and generation.used_by(settings, "x") == []


def test_results_depend_on_the_drawing_and_not_on_the_batch(tmp_path):
    settings = loaded(tmp_path, written())
    assert generation.drawing_of(settings, "t5", "5", "1") == {
        "samples": 5, "seed": 1, "top_k": 10, "max_input": 512, "max_output": 64,
    }  # fmt: skip
    assert generation.compute_of(settings, "t5") == {"device": "cpu", "threads": 1, "precision": "float32"}
    assert generation.generator_named(settings, "t5") == {"source": "castorini/t5", "revision": "0123456789" * 4, "sha256": None}
    assert generation.batch_of(settings, "t5") == 8
    with pytest.raises(InputError, match="there is no generator x; there are t5"):
        generation.batch_of(settings, "x")


def test_a_row_says_how_its_queries_were_generated(tmp_path):
    settings = loaded(tmp_path, written())
    rows = {row["id"]: row for row in settings["rows"]}
    assert row_settings(settings, rows["doctttttquery"])["generator"] == GENERATOR
    assert row_settings(settings, rows["epic-doctttttquery-full"])["generator"] == GENERATOR
    assert "generator" not in row_settings(settings, rows["bm25"]) | row_settings(settings, rows["doc2query"])


def test_an_experiment_without_generators_has_none(tmp_path):
    settings = loaded(tmp_path, written(None, None))
    assert "generators" not in settings and generation.generators_of(settings) == []


@pytest.mark.parametrize(
    ("generators", "predicted", "message"),
    [
        (
            [GENERATOR],
            {"generate": "t6", "samples": 5, "seed": 1},
            r"first_stages\.doctttttquery\.predicted_queries\.generate: no t6 in generators; there are t5",
        ),
        (None, GENERATED, "no t5 in generators; there are none"),
        ([GENERATOR], GENERATED | {"source": "path:x"}, "say source, .* or generate, the id of a generator, not both"),
        ([GENERATOR], {"samples": 5}, "say source, where there are queries, or generate, the id of a generator$"),
        ([GENERATOR], {"generate": "t5", "samples": 5}, "queries that are generated need a seed"),
        ([GENERATOR], GENERATED | {"samples": None}, "predicted_queries.samples: say how many queries are generated"),
        ([GENERATOR], GENERATED | {"samples": 1001}, "names of sample files have three digits"),
        ([GENERATOR], GENERATED | {"seed": -1}, "a seed has 32 bits"),
        ([], {"source": "path:x", "samples": 4, "seed": 1}, "published have no seed"),
        ([GENERATOR], None, r"generators\.t5: no first stage generates with it; leave it out"),
        ([GENERATOR, GENERATOR | {}], GENERATED, "the id t5 is given twice"),
        ([GENERATOR | {"revision": None}], GENERATED, r"generators\.t5: neither a revision, a commit of 40 digits, nor a sha256"),
        (
            [GENERATOR | {"revision": "main"}],
            GENERATED,
            r"generators\.t5: neither a revision, a commit of 40 digits, nor a sha256",
        ),
        ([GENERATOR | {"precision": "float16"}], GENERATED, r"generators\.t5\.precision: low precision is for the device cuda"),
        ([GENERATOR | {"precision": "int8"}], GENERATED, r"generators\.t5\.precision"),
        ([GENERATOR | {"top_k": 0}], GENERATED, r"generators\.t5\.top_k"),
        ([GENERATOR | {"beams": 4}], GENERATED, r"generators\.t5\.beams"),
        ([{key: value for key, value in GENERATOR.items() if key != "batch"}], GENERATED, "batch"),
        ({"t5": GENERATOR}, GENERATED, "generators: expected a list"),
        (["t5"], GENERATED, r"generators\.0: expected keys and values"),
        ([GENERATOR | {"id": 5}], GENERATED, "expected an id"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(tmp_path, generators, predicted, message):
    said = written(None, predicted)
    said |= {} if generators is None else {"generators": generators}
    with pytest.raises(InputError, match=rf"mine\.yaml line \d+: .*{message}"):
        loaded(tmp_path, said)


def test_a_folder_needs_no_pin(tmp_path):
    settings = loaded(tmp_path, written([GENERATOR | {"source": "path:t5", "revision": None}]))
    assert list(problems(copy.deepcopy(settings))) == []


def test_every_key_of_a_generator_is_listed():
    item = yaml.safe_load(SCHEMA.read_text())["properties"]["generators"]["items"]
    assert set(item["required"]) == set(item["properties"]) == set(GENERATOR)


def test_the_generator_that_stands_in_the_paper_s_comment_takes_the_place_of_the_download(tmp_path):
    text = (ROOT / "workflow" / "experiments" / "paper.yaml").read_text()
    before, comment, after = text.partition("# generators:\n")
    listed, rest = re.match(r"(?s)((?:#  .*?\n)+)(.*)", after).groups()
    entry = comment.removeprefix("# ") + "".join(f"{line.removeprefix('# ')}\n" for line in listed.splitlines())
    said = re.search(r"predicted_queries: (\{generate: .*?\})", before)[1]
    published = 'predicted_queries: {source: "download:predicted_queries_topk_sampling.zip"'
    assert before.count(published) == 1
    before = re.sub(re.escape(published) + r".*?\}", f"predicted_queries: {said}", before)
    (tmp_path / "mine.yaml").write_text(before + entry + rest)
    settings = load_experiments([tmp_path])["mine"]
    assert generation.generator_named(settings, "t5")["source"] == settings["published_on"]["generator"]
    assert (
        generation.used_by(settings, "t5") == ["doctttttquery"]
        and row_conditions(settings, find(settings["rows"], "doctttttquery")) == []
    )
    assert first_stage_inputs.expansion(settings, "doctttttquery")["predicted"].of == {
        "generator": "t5",
        "samples": 40,
        "seed": 42,
    }
