"""Jobs as Snakemake plans them, described: with small stand-ins for its objects."""

from types import SimpleNamespace

import pytest

from epic.core.files import InputError
from epic.planning import preflight as surveys
from epic.planning.estimates import Job
from epic.planning.jobs import described, place_of, preflight, quoting
from epic.planning.plan import NOTHING, Place, Plan
from epic.planning.preflight import Survey
from epic.planning.probes import Check

ORDER = ["data", "train", "encode", "table"]


class Memory:
    """What a rule asks for, worked out from a job's wildcards."""

    def __init__(self, function):
        self.function = function

    def evaluate(self, wildcards):
        return SimpleNamespace(value=self.function(wildcards))


def job(rule, outputs=(), inputs=(), threads=1, gpu=None, memory=None, local=False, **names):
    wildcards = SimpleNamespace(**names)
    return SimpleNamespace(
        rule=SimpleNamespace(name=rule, resources={} if memory is None else {"mem_mb": Memory(memory)}),
        wildcards=wildcards, wildcards_dict=names, threads=threads, is_local=local, output=outputs, input=inputs,
        resources={"mem_mb": 1} | ({} if gpu is None else {"gpu": gpu}),
    )  # fmt: skip


class Output:
    """An output file that is no string, as Snakemake's are not always."""

    def __str__(self):
        return "results/mine/train/a"


def test_a_job_is_described_with_what_it_was_asked_for_and_not_with_what_may_be_claimed():
    train = job(
        "train", [Output()], ["a.tsv"], 4, gpu=1, memory=lambda names: {"a": 16_000}[names.model], experiment="mine", model="a"
    )
    assert described([train], ORDER) == {
        "mine": [Job("train", {"experiment": "mine", "model": "a"}, 4, 1, 16_000, False, ("results/mine/train/a",), ("a.tsv",))]
    }


def test_jobs_stand_by_experiment_in_the_order_of_the_rules_and_as_they_came_within_one():
    names = [("table", "one"), ("encode", "two"), ("encode", "one"), ("data", "one"), ("encode", "two"), ("data", "two")]
    jobs = [job(rule, threads=place, experiment=experiment) for place, (rule, experiment) in enumerate(names, start=1)]
    found = described(jobs, ORDER)
    assert {name: [(job.rule, job.threads) for job in jobs] for name, jobs in found.items()} == {
        "one": [("data", 4), ("encode", 3), ("table", 1)],
        "two": [("data", 6), ("encode", 2), ("encode", 5)],
    }


@pytest.mark.parametrize(
    ("gpu", "memory"), [(None, None), ("<TBD>", lambda _: "<TBD>"), (0, lambda _: 0), (None, lambda _: None)]
)
def test_what_is_not_asked_for_or_not_known_yet_is_nothing(gpu, memory):
    (found,) = described([job("data", gpu=gpu, memory=memory, local=True, experiment="mine")], ORDER)["mine"]
    assert (found.gpus, found.memory_mb, found.local, found.outputs) == (0, 0, True, ())


def test_a_job_of_no_experiment_is_left_out():
    assert described([job("data")], ORDER) == {} and described([], ORDER) == {}


def limit(value):
    return SimpleNamespace(value=value)


def test_on_this_machine_cores_count_and_on_a_cluster_jobs_do():
    assert place_of(8, None, True, {"gpu": limit(2), "mem_mb": limit(64_000)}) == Place(8, 2, None, 64_000)
    assert place_of(8, 100, False, {}) == Place(1, None, 100, None)
    assert place_of(2, None, True, {"gpu": limit(0)}) == Place(2, 0)


@pytest.fixture
def found(monkeypatch):
    """Surveys that find what the test says, by experiment; each notes what it was asked."""
    checks, asked = {}, []

    def survey(name, settings, jobs, place):
        asked.append((name, settings, jobs, place))
        return Survey(name, place, Plan([], 0, 0, NOTHING), checks[name])

    monkeypatch.setattr(surveys, "survey", survey)
    return checks, asked


LACKING, DOUBTFUL, FINE = (
    Check("GPU", "none", "buy one"),
    Check("folder", "local", "use another", True),
    Check("disk", "9 GB", ""),
)
HERE, JOBS, SETTINGS = Place(8, 1), {"b": [Job("data", {})], "a": []}, {"a": {"of": "a"}, "b": {"of": "b"}, "c": {}}


def test_each_experiment_is_surveyed_once_with_its_own_settings_and_jobs(found, capsys):
    checks, asked = found
    checks |= {"a": [FINE], "b": [FINE]}
    assert preflight(SETTINGS, JOBS, HERE, only_plan=False) is None
    assert asked == [("a", {"of": "a"}, [], HERE), ("b", {"of": "b"}, JOBS["b"], HERE)]
    assert capsys.readouterr() == ("", "")


def test_what_is_lacking_is_returned_for_all_experiments_and_nothing_is_printed(found, capsys):
    found[0].update(a=[LACKING], b=[LACKING, DOUBTFUL])
    refused = preflight(SETTINGS, JOBS, HERE, only_plan=False)
    assert refused.index("a ") < refused.index("b ") and refused.count("buy one") == 2 and capsys.readouterr() == ("", "")
    found[0]["a"] = [FINE]
    assert preflight(SETTINGS, JOBS, HERE, only_plan=False).count("buy one") == 1


def test_what_a_survey_refuses_to_look_at_is_said_in_one_line(monkeypatch):
    def survey(*_):
        raise InputError("EPIC_CARD=B52: no such card")

    monkeypatch.setattr(surveys, "survey", survey)
    for only_plan in (True, False):
        assert preflight(SETTINGS, JOBS, HERE, only_plan) == "EPIC_CARD=B52: no such card"


def test_warnings_are_said_on_stderr_and_refuse_nothing(found, capsys):
    found[0].update(a=[DOUBTFUL], b=[FINE])
    assert preflight(SETTINGS, JOBS, HERE, only_plan=False) is None
    assert capsys.readouterr() == ("", "warning: folder: local; use another\n")


def test_a_plan_that_is_asked_for_is_printed_whatever_is_lacking(found, capsys):
    found[0].update(a=[LACKING], b=[FINE])
    assert preflight(SETTINGS, JOBS, HERE, only_plan=True) is None
    said = capsys.readouterr()
    assert said.out.startswith("a: 1 need is not met here") and "\nb: every need is met" in said.out and said.err == ""


def test_python_is_quoted_in_the_command_of_a_script_and_nothing_else_is_changed():
    execute = quoting(lambda script, command, **values: (script, command, values))
    assert execute(1, "{py_exec} {fname:q}", fname="a") == (1, "{py_exec:q} {fname:q}", {"fname": "a"})
    assert execute(1, "echo $PATH", read=True) == (1, "echo $PATH", {"read": True})
