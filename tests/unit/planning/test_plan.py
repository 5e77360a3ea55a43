"""Plans: what all jobs take together, and how it is shown."""

import re

import pytest

from epic.experiment.check import load_experiments
from epic.planning.cards import Speed, card_named
from epic.planning.estimates import Cost, Job
from epic.planning.plan import Place, cost_table, plan
from epic.planning.rates import SMALL
from tests.conftest import ROOT
from tests.unit.planning.test_estimates import MSMARCO

HERE = Place(cores=8, gpus=1)


@pytest.fixture(scope="module")
def paper():
    folder = ROOT / "workflow"
    return load_experiments([folder / "experiments"])["paper"] | {"keep": ["stores"]}


def shards(count=64):
    return [Job("encode", {"model": "paper", "scatteritem": f"{place}-of-64"}, 4, 1) for place in range(1, count + 1)]


def stores():
    return [Job("prune", {"model": "paper", "keep": keep}) for keep in ("2000", "1000", "500")]  # the last is no layer


def made(paper, jobs, place=HERE, **more):
    return plan(jobs, paper, MSMARCO, place, **more)


def test_shards_and_stores_that_are_written_out_lie_on_the_disk_at_once(paper):
    assert made(paper, shards() + stores()).growth == 74_483_516_952 + 17_754_380_584 + 2 * SMALL


def test_only_jobs_that_would_run_count(paper):
    half = made(paper, shards(32) + stores()[2:])
    assert half.growth == 74_483_516_952 / 2 + 17_754_380_584 and [stage.jobs for stage in half.stages] == [32, 1]
    assert made(paper, []).growth == 0


def test_what_a_job_writes_over_is_free_again(paper):
    assert made(paper, stores()[2:], present=17_000_000_000).growth == 754_380_584
    assert made(paper, stores()[2:], present=19_000_000_000).growth == 0


def test_temporary_results_count_as_the_most_that_lies_there_at_once(paper):
    none = paper | {"keep": []}
    others = [job._replace(wildcards=job.wildcards | {"model": "released"}) for job in shards()]
    one, two, together = (
        plan(jobs, none, MSMARCO, HERE)
        for jobs in (shards(), shards() + others, [*shards(), *others, Job("latency", {"timed": "together"})])
    )
    assert one.growth == 0 and one.scratch == two.scratch == 8_841_823 * (4 * 2100 + 3 * 8)
    assert together.scratch > 2 * one.scratch  # and the vectors that are timed
    assert plan(shards() + others, none, MSMARCO, Place(1, None, cluster_jobs=9)).scratch == 2 * one.scratch
    assert two.stages[0].written == 2 * one.scratch  # written is written
    assert made(paper, shards()).scratch == 0


def test_gpu_jobs_share_the_gpus_and_others_the_cores(paper):
    one, two = (made(paper, shards(), Place(8, gpus)).stages[0] for gpus in (1, 2))
    assert one.seconds == pytest.approx(2 * two.seconds) and one.gpu_seconds == two.gpu_seconds == pytest.approx(one.seconds)
    few, many = (made(paper, stores(), Place(cores, 1)).stages[0] for cores in (1, 64))
    assert few.seconds == pytest.approx(sum(made(paper, [store]).stages[0].seconds for store in stores()))
    assert many.seconds == max(made(paper, [store]).stages[0].seconds for store in stores())


def test_jobs_side_by_side_share_the_memory(paper):
    searches = [Job("retrieve", {"first_stage": "bm25", "query_set": "dl19"}, threads=2, memory_mb=10_000)] * 8
    free, tight = (made(paper, searches, Place(16, 1, memory_mb=memory)).stages[0].seconds for memory in (None, 25_000))
    assert tight == pytest.approx(4 * free)  # two at once instead of eight
    assert Place(16, 1, memory_mb=5_000).at_once(searches[0]) == 1
    assert Place(1, None, cluster_jobs=16).at_once(searches[0]) == 16


def test_a_cluster_runs_as_many_jobs_as_it_may(paper):
    alone, nodes = made(paper, shards()).stages[0], made(paper, shards(), Place(1, None, cluster_jobs=16)).stages[0]
    assert nodes.seconds == pytest.approx(alone.seconds / 16)


def test_scratch_is_counted_for_jobs_that_run_side_by_side(paper):
    timed = [Job("latency", {"timed": f"{model}-bm25-full"}, threads=8, gpus=1) for model in ("epic", "released")]
    alone = made(paper, timed[:1]).scratch
    assert alone > 14e9 and made(paper, timed).scratch == alone
    assert made(paper, timed, Place(1, None, cluster_jobs=10)).scratch == 2 * alone


def test_the_table_has_a_line_for_each_large_stage_and_a_total(paper):
    jobs = [*shards(), *stores(), Job("table", {}), Job("report", {})]
    text = cost_table(made(paper, jobs, sources=Cost(11e9, 720)), HERE)
    assert re.search(r"^ +stage +jobs +GB written +GPU-hours +hours$", text, re.MULTILINE)
    assert re.search(r"^ +sources +11 +- +0\.2$", text, re.MULTILINE)
    assert re.search(r"^ +encode +64 +74 +14 +14$", text, re.MULTILINE)
    assert re.search(r"^ +prune +3 +18 +- +0\.1$", text, re.MULTILINE)
    assert re.search(r"^ +2 others +2 +<0\.1 +- +<0\.1$", text, re.MULTILINE)
    assert re.search(r"^ +total +69 +103 +14 +14$", text, re.MULTILINE)
    assert "8 cores, 1 GPU" in text and "estimates: GPU work as on a GeForce GTX 1080 Ti" in text
    faster = plan(jobs, paper, MSMARCO, HERE, speed=Speed(card_named("A100"), said="as on this very card"))
    assert "GPU work as on this very card" not in text and "as on this very card" in cost_table(faster, HERE)
    aligned = [line for line in text.splitlines()[:-1] if line != "  of these, by system"]
    assert len({len(line) for line in aligned}) == 1 and len(aligned) == len(text.splitlines()) - 2


def test_a_plan_without_gpu_work_does_not_speak_of_gpus(paper):
    text = cost_table(made(paper, stores()), HERE)
    assert "(8 cores, one stage" in text and "GPU" not in text.splitlines()[-1]
