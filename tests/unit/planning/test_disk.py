"""Bytes on the disk: layers by hand, and the most that lies there at once."""

import pytest

from epic.planning.amounts import Cost, Job
from epic.planning.disk import at_once, bytes_of_a_vector, is_copied, is_temporary, layers, widths
from epic.planning.plan import Place


@pytest.mark.parametrize(
    ("kept", "files"),
    [
        ([100, 1000, 2000], [100, 1000, 1000]),  # the paper's: 2100 terms
        ([2000], [2000]),
        ([1000, 2000], [1000, 1000]),
        ([100, 150, 600, 601], [100, 50, 600, 1]),
        ([], []),
    ],
)
def test_a_wider_layer_holds_what_the_one_before_lacks_unless_that_is_small(kept, files):
    assert layers(kept) == files


def test_an_experiment_says_what_it_keeps_as_one_number_or_as_several():
    old, new = {"encode": {"max_terms": 2000}}, {"encode": {"keep": [2000, 100, 1000]}}
    assert widths(old) == [2000] and widths(new) == [100, 1000, 2000]
    assert bytes_of_a_vector(old) == 8000 and bytes_of_a_vector(new) == 8400 + 3 * 8
    assert is_copied(old, 1000) and is_copied(new, 500) and not is_copied(new, 1000)


def test_everything_is_kept_unless_the_experiment_says_otherwise():
    assert not is_temporary({}, "stores") and not is_temporary({"keep": ["stores"]}, "stores")
    assert is_temporary({"keep": ["stores"]}, "expanded") and is_temporary({"keep": []}, "stores")


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
