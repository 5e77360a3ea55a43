"""The experiment smoke with a change, written to a file and read as a user's own."""

import copy
from functools import cache

import yaml

from epic.experiment.check import PUBLISHED, SCHEMA, load_experiment, read_published
from tests.conftest import ROOT

EXPERIMENTS = ROOT / "workflow" / "experiments"


def schema():
    return yaml.safe_load(SCHEMA.read_text())


@cache
def read_once():
    """The schema, what was published, and the experiment smoke."""
    return schema(), read_published(PUBLISHED), yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text())


def load(path):
    return load_experiment(path, *read_once()[:2])


def changed(tmp_path, change):
    settings = copy.deepcopy(read_once()[2])
    change(settings)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path
