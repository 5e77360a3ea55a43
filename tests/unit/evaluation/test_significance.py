"""Tests of significance by hand, at the edges, and the words that are drawn from them."""

import json
import math

import pandas as pd
import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import counts_of, write_counts
from epic.evaluation.resampling import DRAWS
from epic.evaluation.significance import (
    compare,
    conclusion,
    equivalence_test,
    holm,
    paired,
    paired_t_test,
    side_by_side,
    write_tests,
)


def test_the_t_test_by_hand():
    # differences 1, 0, 2: mean 1, standard deviation 1, t = 1 / (1 / sqrt 3); two degrees of freedom
    t, p = paired_t_test([1, 1, 3], [0, 1, 1])
    assert t == pytest.approx(math.sqrt(3))
    assert p == pytest.approx(1 - math.sqrt(3) / math.sqrt(3 + 2))


def test_the_equivalence_test_by_hand():
    # differences 1, 0, -1: mean 0, standard error 1 / sqrt 3; at margin 1, t is sqrt 3 on both sides
    assert equivalence_test([1, 0, 0], [0, 0, 1], 1) == pytest.approx((1 - math.sqrt(3) / math.sqrt(3 + 2)) / 2)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])  # 3 x 0.01, then 2 x 0.03; never below the one before
    assert holm([0.6, 0.7]) == [1.0, 1.0] and holm([]) == []


def test_identical_systems_give_no_nan_and_a_constant_difference_is_certain():
    assert paired_t_test([0.5, 0.0], [0.5, 0.0]) == (0.0, 1.0)
    assert paired_t_test([1.0, 0.5], [0.5, 0.0]) == (math.inf, 0.0)
    with pytest.raises(InputError):
        paired_t_test([1.0], [0.5])
    same = compare([0.5, 0.0, 1.0], [0.5, 0.0, 1.0], 0.01, 0.005)
    assert same == {
        "queries": 3,
        "system_mean": 0.5,
        "baseline_mean": 0.5,
        "difference": 0.0,
        "interval": [0.0, 0.0],
        "t": 0.0,
        "p": 1.0,
        "p_randomisation": 1.0,
        "effect_size": 0.0,
        "wins": 0,
        "ties": 3,
        "losses": 0,
        "margin": 0.005,
        "p_equivalence": 0.0,
    }
    always = compare([1.0, 0.5], [0.5, 0.0], 0.01, 0.1)
    assert always["t"] is None and always["effect_size"] is None and always["p"] == 0.0 and always["p_equivalence"] == 1.0


@pytest.mark.parametrize(
    ("p_holm", "margin", "p_equivalence", "expected"),
    [
        (0.001, None, None, "different"),
        (0.001, 0.005, 0.5, "different"),
        (0.001, 0.005, 0.001, "different, by less than 0.005"),
        (0.5, 0.005, 0.001, "equivalent within ±0.005"),
        (0.9, 0.005, 0.5, "inconclusive"),
        (0.9, None, None, "inconclusive"),  # a large p never means that two systems are the same
        (0.01, None, None, "inconclusive"),  # below, not at
    ],
)
def test_what_may_be_said(p_holm, margin, p_equivalence, expected):
    assert conclusion({"p_holm": p_holm, "margin": margin, "p_equivalence_holm": p_equivalence}, 0.01) == expected


def values(path, numbers):
    path.write_text("query_id\tRR@10\tnDCG@10\n" + "".join(f"q{i}\t{value}\t0.0\n" for i, value in enumerate(numbers)))
    return path


def counted(path, judged):
    write_counts(path, counts_of((), {f"q{i}": {"a": 1} for i in range(judged)}))
    return path


def test_a_family_is_corrected_as_one_and_the_file_is_the_same_each_time(tmp_path):
    base = [0.0, 0.1, 0.5, 0.0, 0.6, 0.25, 0.0, 0.5]
    paths = {
        "better": values(tmp_path / "a", [value + 0.3 + 0.01 * place for place, value in enumerate(base)]),
        "like": values(tmp_path / "b", [0.1, *base[1:]]),
        "base": values(tmp_path / "c", base),
    }
    families = [
        {"mark": "a", "says": "gain", "margin": None, "pairs": [["better", "base"], ["like", "base"]]},
        {"mark": "b", "says": "no change", "margin": 0.2, "pairs": [["like", "base"]]},
    ]
    counts = counted(tmp_path / "counts", len(base))
    for name in ("one.json", "two.json"):
        write_tests(families, paths, counts, "RR@10", 0.01, tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    found = json.loads((tmp_path / "one.json").read_text())
    (gain, like), (change,) = (family["tests"] for family in found["families"])
    assert found["draws"] == DRAWS and found["metric"] == "RR@10"
    assert gain["system"] == "better" and gain["significant"] and gain["conclusion"] == "different"
    assert gain["p_holm"] == 2 * gain["p"] and gain["wins"] == 8 and like["wins"] == 1 and like["ties"] == 7
    assert like["conclusion"] == "inconclusive" and change["conclusion"] == "equivalent within ±0.2"
    assert change["p_holm"] == change["p"] and change["p_equivalence_holm"] == change["p_equivalence"]  # alone in its family
    assert gain["p_equivalence_holm"] is None


def test_systems_over_other_queries_are_not_compared():
    values = pd.DataFrame({"a": {"q": 1.0, "r": 0.5}, "b": {"q": 0.5}, "c": {"r": 0.0, "q": 0.1}, "d": {"s": 1.0, "t": 0.0}})
    with pytest.raises(InputError, match="a and b were not evaluated on the same queries; evaluate both anew"):
        paired(values, "a", "b")
    with pytest.raises(InputError, match="d and a were not"):
        paired(values, "d", "a")
    assert paired(values, "a", "c") == ([1.0, 0.5], [0.1, 0.0])  # what other rows were evaluated on does not matter


def test_values_are_joined_by_query_whatever_their_order_and_ids(tmp_path):
    for name, lines in (("one", "NA\t1.0\n007\t0.5\n7\t0.1\n"), ("two", "7\t0.2\n007\t0.25\nNA\t0.0\n")):
        (tmp_path / name).write_text("query_id\tRR@10\n" + lines)
    values = side_by_side({"one": tmp_path / "one", "two": tmp_path / "two"}, "RR@10")
    assert list(values) == ["one", "two"] and values.loc["NA"].tolist() == [1.0, 0.0]
    assert dict(zip(*paired(values, "one", "two"), strict=True)) == {1.0: 0.0, 0.5: 0.25, 0.1: 0.2}


def test_without_comparisons_there_are_no_tests(tmp_path):
    write_tests([], {}, counted(tmp_path / "counts", 8), "RR@10", 0.01, tmp_path / "none.json")
    assert json.loads((tmp_path / "none.json").read_text())["families"] == []


@pytest.mark.parametrize("lengths", [(3, 2), (2, 2), (4, 4)])
def test_values_of_other_queries_than_were_judged_are_not_compared(tmp_path, lengths):
    paths = {name: values(tmp_path / name, [0.5] * length) for name, length in zip("ab", lengths, strict=True)}
    families = [{"mark": "a", "says": "gain", "margin": None, "pairs": [["a", "b"]]}]
    with pytest.raises(InputError, match=rf"{'ab'[lengths[0] == 3]} has \d judged queries, .*counts says 3"):
        write_tests(families, paths, counted(tmp_path / "counts", 3), "RR@10", 0.01, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
