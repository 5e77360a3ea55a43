"""Measures by their names, as jobs get them."""

from epic.evaluation.measures import Measure
from epic.experiment.measure_names import computed


def measure(name):
    return Measure(**computed(name))
