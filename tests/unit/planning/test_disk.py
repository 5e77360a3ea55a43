"""Bytes on the disk: layers by hand, and the most that lies there at once."""

import pytest

from epic.planning.amounts import Cost, Job
from epic.planning.disk import at_once, bytes_of_a_vector, is_copied, is_temporary, layers, widths


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


def passing(*models, timed=()):
    jobs = [(Job("expand", {"first_stage": name}), Cost(3, 0, temporary=3)) for name in ("a", "b")]
    jobs += [(Job("encode", {"model": model, "scatteritem": "1-of-1"}), Cost(9, 0, temporary=5)) for model in models]
    return jobs + [(Job("latency", {"timed": name}), Cost(1, 0)) for name in timed]


def test_first_stages_come_together_and_models_one_after_the_other():
    assert at_once([], True) == 0 and at_once(passing(), True) == 6
    assert at_once(passing("x"), True) == 6 and at_once(passing("x", "x"), True) == 10
    assert at_once(passing("x", "y", "z"), True) == 6


def test_models_that_are_timed_together_or_run_side_by_side_lie_there_at_once():
    assert at_once(passing("x", "y", "z", timed=["together"]), True) == 15
    assert at_once(passing("x", "y", "z", timed=["x"]), True) == 6
    assert at_once(passing("x", "y", "z"), one_after_the_other=False) == 15
