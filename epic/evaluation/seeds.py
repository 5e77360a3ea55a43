"""How far apart the same model comes out when chance differs: one evaluated run for each seed."""

import statistics

from epic.columns import columns
from epic.evaluate import read_values
from epic.files import InputError
from epic.measures import mean


def spread(paths: list) -> str:
    """The means of every run's measures in columns; below them their mean, standard deviation, lowest and highest.

    paths: per-query values as `evaluate` wrote them, of the same queries.
    """
    if len(paths) < 2:
        raise InputError(f"a spread needs two or more runs, not {len(paths)}")
    runs = {str(path): read_values(path) for path in paths}
    if len(runs) < len(paths):
        raise InputError("a spread needs different runs; one was named twice")
    first, values = next(iter(runs.items()))
    for path, found in runs.items():
        if found.keys() != values.keys() or found["RR@10"].keys() != values["RR@10"].keys():
            raise InputError(f"{path} and {first} were not evaluated on the same queries by the same measures")
    means = [[mean(list(found[name].values())) for found in runs.values()] for name in values]
    lines = [(f"{len(values['RR@10'])} queries", *values)]
    lines += [(path, *_shown(row)) for path, row in zip(runs, zip(*means, strict=True), strict=True)]
    for name, of in (("mean", mean), ("standard deviation", statistics.stdev), ("lowest", min), ("highest", max)):
        lines.append((name, *_shown(of(column) for column in means)))
    return "\n".join(columns(lines, texts=1))


def _shown(values) -> list[str]:
    return [f"{value:.4f}" for value in values]
