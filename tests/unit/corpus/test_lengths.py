"""Lengths, summed up exactly and in any order."""

import statistics as reference

import pytest

from epic.corpus.lengths import Lengths


def lengths(values):
    found = Lengths()
    found.add(values)
    return found


@pytest.mark.parametrize("values", [[3], [3, 5], [1, 2, 3, 400], [73, 28, 0, 512] * 50, [7] * 9])
def test_mean_and_deviation_are_those_of_the_standard_library_however_they_are_added(values):
    cut = len(values) // 3
    found = (lengths(values[:cut]) + lengths(values[cut:])).summary()
    assert found["mean"] == pytest.approx(reference.fmean(values))
    assert found["sd"] == pytest.approx(reference.stdev(values) if len(values) > 1 else 0.0)
    assert Lengths().summary() == {"mean": 0.0, "sd": 0.0}


def test_mean_and_deviation_by_hand():
    found = lengths([2, 4, 4, 4, 5, 5, 7, 9]).summary()  # squares of the distances from 5: 32 in all
    assert found == {"mean": 5.0, "sd": pytest.approx((32 / 7) ** 0.5)}


def test_no_digit_is_lost_however_large_the_lengths_are():
    found = lengths([10**9, 10**9 + 2])  # their squares do not fit the 53 bits of a float
    assert found.summary() == {"mean": 1e9 + 1, "sd": pytest.approx(2**0.5)}


def test_what_was_counted_survives_its_file():
    counted = lengths([3, 5, 0])
    assert vars(counted) == {"count": 3, "total": 8, "squares": 34}
    again = Lengths(**vars(counted))
    again.add([1])
    assert vars(again) == vars(lengths([3, 5, 0, 1])) and counted.count == 3
