"""What people call a measure: MRR@10 is the mean of RR@10.

It is apart from `measure_names`: training says by what it chooses, and does not depend on which measures there are.
"""

import re

SPOKEN = {"RR": "MRR", "AP": "MAP", "Rprec": "R-prec"}


def spoken(name: str) -> str:
    """Return what people call the mean of a measure, such as MRR@10 or R-prec."""
    family = re.match("[A-Za-z]*", name)[0]
    return SPOKEN.get(family, family) + name.removeprefix(family)
