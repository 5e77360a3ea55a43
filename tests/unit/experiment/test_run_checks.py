"""What is refused of first stages that are run files, with the line."""

import copy

import pytest
import yaml

from epic.core.files import InputError
from epic.experiment.check import load_experiments
from epic.experiment.run_checks import asked_for, run_problems
from tests.written import EXPERIMENTS, load

SMOKE = load_experiments([EXPERIMENTS])["smoke"]
RUN = {
    "id": "dph",
    "label": "DPH",
    "predicted_queries": None,
    "weighted_text": None,
    "run": {"trec-covid": "path:a", "validation": "path:b"},
}
INDEX = {"id": "dph", "label": "DPH", "predicted_queries": None, "weighted_text": None, "k1": 0.9}


def written(folder, stage, change=lambda settings: None):
    settings = yaml.safe_load((EXPERIMENTS / "covid-dph.yaml").read_text())
    settings["first_stages"] = [stage]
    change(settings)
    (folder / "mine.yaml").write_text(yaml.safe_dump(settings))
    return folder / "mine.yaml"


def test_a_run_file_needs_no_parameters_of_bm25(tmp_path):
    settings = load(written(tmp_path, RUN))
    assert list(run_problems(settings)) == [] and settings["first_stages"] == [RUN]


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (RUN | {"k1": 0.9}, r"first_stages\.dph\.k1: a first stage that is a run file has no k1: nothing is searched"),
        (RUN | {"b": 0.4}, r"first_stages\.dph\.b: a first stage that is a run file has no b"),
        (INDEX, r"first_stages\.dph\.b: a first stage needs b, or run, a run file by query set"),
        (RUN | {"predicted_queries": {"source": "path:q", "samples": 1}}, r"dph\.predicted_queries: .* has no predicted_queries: .*; say null"),
        (RUN | {"weighted_text": {"source": "path:w"}}, r"dph\.weighted_text: a first stage that is a run file has no weighted_text"),
        (RUN | {"run": RUN["run"] | {"dev": "path:c"}}, r"dph\.run\.dev: no dev in query_sets; there are validation, trec-covid"),
        (RUN | {"run": {"validation": "path:b"}}, r"dph\.run: there is no run of trec-covid, on which row dph is scored"),
        (RUN | {"run": {"trec-covid": "path:a"}}, r"dph\.run: there is no run of validation, on which the cut-off of row authors-dph-full is"),
        (RUN | {"run": {}}, r"dph\.run: \{\} "),
        (RUN | {"run": "path:a"}, r"dph\.run: 'path:a' is not of type 'object'"),
        (RUN | {"run": {"trec-covid": "covid.trec"}}, r"dph\.run\.trec-covid: 'covid\.trec' does not match"),
    ],
)  # fmt: skip
def test_a_first_stage_is_either_searched_or_a_run_of_every_set_that_it_is_asked_for(tmp_path, stage, message):
    with pytest.raises(InputError, match=r"mine\.yaml line \d+: .*" + message):
        load(written(tmp_path, stage))


def test_a_published_run_is_not_timed_on_a_first_stage_that_is_not_searched(tmp_path):
    row = {"id": "theirs", "label": "Theirs", "group": "g", "kind": "run-file", "published": []}
    row |= {
        "runs": [{"query_set": "trec-covid", "source": "path:c"}],
        "timed": {"model": "authors", "first_stage": "dph", "hits": 9},
    }
    with pytest.raises(InputError, match=r"rows\.theirs\.timed\.first_stage: dph is a run file, which cannot be searched"):
        load(written(tmp_path, RUN, lambda settings: settings["rows"].append(row)))


def test_a_first_stage_is_asked_for_by_rows_cut_offs_validation_and_triples():
    settings = copy.deepcopy(SMOKE)
    assert list(asked_for(settings, "doc2query")) == ["test"]
    assert list(asked_for(settings, "bm25")) == ["test", "validation", "train"]
    assert list(asked_for(settings, "doctttttquery")) == ["test", "validation"]
    settings["rows"] = []
    assert asked_for(settings, "bm25") == {
        "validation": "on which models are validated (train.validation_first_stage)",
        "train": "whose hits are drawn as negatives (triples)",
    }
