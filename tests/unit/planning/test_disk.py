"""Bytes on the disk: of a vector by hand, and the most that lies there at once."""

import pytest

from epic.planning.amounts import Cost, Job
from epic.planning.disk import at_once, bytes_of_a_vector, is_copied
from epic.planning.plan import Place


def test_a_vector_has_a_checksum_in_every_layer_and_a_store_that_is_no_layer_is_a_copy():
    kept = {"encode": {"keep": [100, 1000, 2000]}}  # layers of 100, 1000 and 1000 terms
    assert bytes_of_a_vector(kept) == 4 * 2100 + 3 * 8
    assert bytes_of_a_vector(kept, 500) == 4008 and bytes_of_a_vector(kept, 1500) == 8016  # what a copy is taken from
    assert is_copied(kept, 500) and not any(is_copied(kept, keep) for keep in (100, 1000, 2000))


SETTINGS = {"models": [{"id": name} for name in "xyz"], "rows": [{"id": "x-full", "model": "x"}, {"id": "bm25"}]}
HERE, CLUSTER = Place(8, 1), Place(1, None, cluster_jobs=9)


def passing(*models, timed=()):
    jobs = [(Job("expand", {"first_stage": name}), Cost(3, 0, temporary=3)) for name in ("a", "b")]
    jobs += [(Job("index", {"first_stage": name}, threads=8), Cost(4, 0, scratch=4)) for name in ("a", "b")]  # one at a time
    jobs += [(Job("encode", {"model": model, "scatteritem": "1-of-1"}), Cost(9, 0, temporary=12)) for model in models]
    return jobs + [(Job("latency", {"timed": name}, threads=8), Cost(1, 0, scratch=2)) for name in timed]


def test_first_stages_come_together_and_models_one_after_the_other():
    assert at_once([], SETTINGS, HERE) == 0 and at_once(passing(), SETTINGS, HERE) == 3 + 3 + 4
    assert at_once(passing("x"), SETTINGS, HERE) == 12 and at_once(passing("x", "x"), SETTINGS, HERE) == 24
    assert at_once(passing("x", "y", "z"), SETTINGS, HERE) == 12


@pytest.mark.parametrize(("timed", "most"), [(["x"], 14), (["x-full"], 14), (["x", "y"], 14), (["bm25"], 12), (["together"], 38)])
def test_what_a_measurement_needs_lies_beside_the_vectors_that_it_reads(timed, most):
    assert at_once(passing("x", "y", "z", timed=timed), SETTINGS, HERE) == most


def test_models_that_run_side_by_side_lie_there_at_once():
    assert at_once(passing("x", "y", "z"), SETTINGS, CLUSTER) == 36
