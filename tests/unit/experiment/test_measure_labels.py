"""Labels of measures: what a reader expects to see."""

import pytest

from epic.experiment.measure_labels import SPOKEN, spoken
from epic.experiment.measure_names import TREC_EVAL, TREC_EVAL_CUT


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RR", "MRR"),
        ("RR@10", "MRR@10"),
        ("RR(rel=2)@10", "MRR(rel=2)@10"),
        ("AP", "MAP"),
        ("AP(rel=2)", "MAP(rel=2)"),
        ("Rprec", "R-prec"),
        ("P@5", "P@5"),
        ("nDCG", "nDCG"),
        ("nDCG@10", "nDCG@10"),
        ("R@1000", "R@1000"),
    ],
)
def test_people_know_some_measures_by_other_names(name, said):
    assert spoken(name) == said


def test_every_label_is_of_a_measure_that_there_is():
    assert set(SPOKEN) <= set(TREC_EVAL) | set(TREC_EVAL_CUT)
