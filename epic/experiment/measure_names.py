"""Measures by the names that ir_measures gives them: which are known, from which grade on they count, how they are computed.

`RR@10` is the reciprocal rank within the first ten hits, whose mean a reader knows as MRR@10. Where judgments are graded,
`(rel=2)` is the lowest grade that counts, as in `AP(rel=2)`. No other module knows a measure by its name.
"""

import re
from typing import NamedTuple

from epic.core.files import InputError

NAME = re.compile(r"(?P<family>[A-Za-z]+)(?:\(rel=(?P<grade>[2-9]|[1-9][0-9]{1,3})\))?(?:@(?P<cut>[1-9][0-9]{0,3}))?")
WITHOUT_GRADE = ("nDCG",)  # it weighs the grades
KNOWN = "RR, RR@N, AP, Rprec, P@N, nDCG, nDCG@N, R@N"
AT_DEPTH = "R@hits"  # recall at the depth that was asked for, which is each query set's own
# What trec_eval calls them: of all hits, and of the first ones, where the reciprocal rank is that of a shorter list.
TREC_EVAL = {"RR": "recip_rank", "AP": "map", "Rprec": "Rprec", "nDCG": "ndcg"}
TREC_EVAL_CUT = {"RR": "recip_rank", "P": "P_{}", "nDCG": "ndcg_cut_{}", "R": "recall_{}"}


class Parts(NamedTuple):
    """What a name says: the kind of measure, the lowest grade that counts, and how many hits are looked at, if not all."""

    family: str
    grade: int
    cut: int | None


def parts_of(name: str) -> Parts:
    """Take a name apart, or raise an InputError that lists the measures there are."""
    found = NAME.fullmatch(name)
    if found:
        family, grade, cut = found.groups()
        without = grade is None or family not in WITHOUT_GRADE
        if without and family in (TREC_EVAL if cut is None else TREC_EVAL_CUT):
            return Parts(family, int(grade or 1), int(cut) if cut else None)
    raise InputError(f"there is no measure {name[:60]}; there are {KNOWN}")


def is_known(name) -> bool:
    """Tell whether something is the name of a measure."""
    try:
        return isinstance(name, str) and bool(parts_of(name))
    except InputError:
        return False


def computed(name: str) -> dict:
    """Return what `epic.evaluation.measures.Measure` says of a measure: jobs compute, and know no names."""
    family, grade, cut = parts_of(name)
    trec_eval = TREC_EVAL[family] if cut is None else TREC_EVAL_CUT[family].format(cut)
    return {"name": name, "trec_eval": trec_eval, "relevance": grade, "depth": cut}


def from_grade(name: str, grade: int) -> str:
    """Return the measure that counts from a grade on; 1 needs no saying, and a measure that weighs the grades stays as it is."""
    family, _, cut = parts_of(name)
    graded = f"(rel={grade})" if grade > 1 and family not in WITHOUT_GRADE else ""
    return f"{family}{graded}{f'@{cut}' if cut else ''}"


def on_set(measures: list[str], headline: str, grade: int, hits: int) -> list[str]:
    """List the measures of a query set, from the grade on that counts there and with recall at its depth.

    Of graded judgments the headline measure is taken from grade 1 on, too, which published values are of; it and what has no
    grade stand first.
    """
    named = [f"R@{hits}" if name == AT_DEPTH else name for name in measures]
    plain = [name for name in named if name == headline or from_grade(name, grade) == name]
    return list(dict.fromkeys([*plain, *(from_grade(name, grade) for name in named)]))


def recall_depth(name: str) -> int | None:
    """Return the hits within which a measure counts relevant passages; None if it is no recall, or of whatever depth there is."""
    found = None if name == AT_DEPTH else parts_of(name)
    return found.cut if found and found.family == "R" else None
