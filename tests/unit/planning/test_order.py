"""Models one after the other: what follows from a job that runs, and jobs whose vectors are gone."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from epic.core.discarded import discard
from epic.planning.order import not_through_ancient, vectors_lacking


class File(str):
    """A file as Snakemake has it."""

    is_ancient = False


class Ancient(File):
    """A file whose time counts for nothing."""

    is_ancient = True


def bfs(dag, direction, *jobs, stop=None):
    """As Snakemake's, in short."""
    found = list(jobs)
    for job in found:
        found += [other for other in direction[job] if other not in found]
    return found


@pytest.fixture
def dag(tmp_path):
    """A turn that encoding waits for, once by a file that is there and once by one that is not, and what reads them."""
    (tmp_path / "there").touch()
    there, absent = Ancient(tmp_path / "there"), Ancient(tmp_path / "absent")
    depending = {"turn": {"encode": {there}, "new": {absent}, "reader": {there, File(tmp_path)}}}
    depending |= {"encode": {"rows": {File("x")}}, "new": {}, "reader": {}, "rows": {}}
    return SimpleNamespace(depending=depending, dependencies={"encode": {"turn": {there}}, "turn": {}})


def test_nothing_follows_through_files_that_are_ancient_there_or_not(dag):
    walk = not_through_ancient(bfs)
    assert bfs(dag, dag.depending, "turn") == ["turn", "encode", "new", "reader", "rows"]
    assert walk(dag, dag.depending, "turn") == ["turn", "reader"]


def test_the_other_direction_is_as_it_was_and_nothing_is_wrapped_twice(dag):
    walk = not_through_ancient(bfs)
    assert walk(dag, dag.dependencies, "encode") == ["encode", "turn"] and not_through_ancient(walk) is walk


def test_snakemake_finds_what_follows_by_the_function_that_is_wrapped():
    (folder,) = find_spec("snakemake").submodule_search_locations
    text = Path(folder, "dag.py").read_text()
    assert "masked.update(self.bfs(self.depending, job))" in text and "def bfs(self, direction, *jobs," in text


def job(rule, inputs=(), outputs=(), **names):
    return SimpleNamespace(
        rule=SimpleNamespace(name=rule), input=inputs, output=outputs, wildcards_dict={"experiment": "mine"} | names
    )


@pytest.fixture
def shard(tmp_path):
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "terms.u16").write_bytes(bytes(2))
    discard(tmp_path / "shard", "make it so")
    return str(tmp_path / "shard")


def test_jobs_that_need_removed_vectors_are_named_with_the_command(shard):
    jobs = [job("prune", [shard], model="paper", keep=str(keep)) for keep in range(5)]
    said = vectors_lacking(jobs)
    assert said.startswith(
        "prune paper/0, prune paper/1, prune paper/2 and 2 more jobs: the vectors that this needs were removed"
    )
    assert said.endswith("make them again, then repeat your command: make it so") and "\n" not in said


def test_vectors_that_are_made_again_or_only_counted_are_no_reason(shard, tmp_path):
    pruning = job("prune", [shard], model="paper", keep="10")
    assert vectors_lacking([pruning, job("encode", [], [shard], model="paper")]) is None
    assert vectors_lacking([job("frequencies", [shard]), job("costs", [shard]), job("discard", [shard])]) is None
    assert vectors_lacking([job("prune", [str(tmp_path)]), job("rerank", [str(tmp_path / "no.run")])]) is None
