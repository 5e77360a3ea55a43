"""pyproject.toml, constraints.txt and environment.yml say the same."""

import re
import tomllib

import yaml

from tests.conftest import ROOT


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line) for line in lines)
    return {normal(line.split("==")[0]): line for line in lines}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned_and_constrained_to_the_same_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = pins()
    for requirement in project["dependencies"] + project["optional-dependencies"]["test"]:
        name, version = requirement.split("==")
        assert found[normal(name)].split("==")[1] == version, requirement


def test_conda_gets_the_same_versions_and_java_21():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "openjdk=21", "pip"]
    assert pip["pip"] == (ROOT / "constraints.txt").read_text().splitlines()


def test_nothing_names_a_place_of_this_machine_or_a_local_build():
    assert not [line for line in pins().values() if "+" in line or "@" in line or "/" in line]


def test_the_packages_of_the_stack_are_there():
    for name in (
        "snakemake",
        "torch",
        "transformers",
        "ir-datasets",
        "pyserini",
        "pytrec-eval-terrier",
        "pandas",
        "matplotlib",
        "pytest",
    ):
        assert name in pins()
