"""The spread of one model's results over several seeds: one evaluated run for each seed."""

import statistics

import pandas as pd

from epic.core import seals
from epic.core.files import InputError
from epic.evaluation.evaluate import read_values
from epic.evaluation.measures import mean

SHOWN = {"mean": mean, "standard deviation": statistics.stdev, "lowest": min, "highest": max}


def spread(paths: list) -> str:
    """Show the means of every run's measures; below them their mean, standard deviation, lowest and highest.

    paths: per-query values as `evaluate` wrote them, of the same queries.
    """
    if len(paths) < 2:
        raise InputError(f"a spread needs two or more runs, not {len(paths)}")
    seals.check(paths)
    runs = {str(path): read_values(path) for path in paths}
    if len(runs) < len(paths):
        raise InputError("a spread needs different runs; one was named twice")
    first, values = next(iter(runs.items()))
    for path, found in runs.items():
        if set(found.columns) != set(values.columns) or set(found.index) != set(values.index):
            raise InputError(f"{path} and {first} were not evaluated on the same queries by the same measures")
    means = pd.DataFrame({path: found.apply(mean) for path, found in runs.items()}).loc[values.columns]  # (measures, runs)
    below = pd.DataFrame({name: means.apply(lambda row, of=of: of(row.tolist()), axis=1) for name, of in SHOWN.items()})
    shown = pd.concat([means, below], axis=1).T.rename_axis(columns=f"{len(values)} queries")
    return shown.to_string(float_format="{:.4f}".format)
