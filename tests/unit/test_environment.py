"""pyproject.toml, the lock, environment.yml and the container say the same, and the lock names nothing but versions and hashes."""

import re
import tomllib

import pytest
import yaml

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGE = r"(?m)^([a-z0-9-]+)==([a-z0-9.+]+)( ; python_full_version < '3\.12')?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"


def text(name):
    return (ROOT / "requirements" / f"{name}.txt").read_text()


def pins(name):
    """Versions by package."""
    return {package: version for package, version, *_ in re.findall(PACKAGE, text(name))}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", ["common", "cpu", "cuda"])
def test_the_lock_is_versions_and_hashes_and_names_no_place(name):
    assert not re.sub(r"(?m)^#.*\n", "", re.sub(PACKAGE, "", text(name)))
    assert pins(name) and not re.search(r"://|index|find-links", text(name).replace("PyTorch's own index", ""))


def test_every_dependency_is_locked_in_the_version_of_pyproject():
    locked = pins("common") | pins("cuda")
    declared = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["test"]
    for requirement in declared + PROJECT["build-system"]["requires"]:
        name, version = requirement.split("==")
        assert locked[normal(name)] == version, requirement


def test_the_builds_of_torch_differ_in_torch_and_its_libraries_only():
    assert list(pins("cpu")) == ["torch"] and pins("cpu")["torch"] == pins("cuda")["torch"] + "+cpu"
    assert not set(pins("common")) & set(pins("cuda"))
    assert all(re.match("torch$|triton$|nvidia-|cuda-", name) for name in pins("cuda"))
    assert not [name for name in pins("common") if re.match("torch$|triton$|nvidia-|cuda-", name)]


def test_conda_gets_the_same_versions_and_java_21():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "openjdk=21", "pip"]
    versions = dict(line.split(" ;")[0].split("==") for line in pip["pip"])
    assert versions == pins("common") | {"torch": pins("cuda")["torch"]}


def test_the_packages_of_the_stack_are_there():
    stack = "snakemake transformers ir-datasets pyserini pytrec-eval-terrier pandas matplotlib pytest"
    assert set(stack.split()) <= set(pins("common"))


def test_the_container_copies_files_that_are_there_and_does_not_run_as_root():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert lines.index("USER ${UID}") < next(i for i, line in enumerate(lines) if line.startswith("COPY"))
    allowed = re.findall(r"(?m)^!([\w./]+)$", (ROOT / ".dockerignore").read_text())
    assert all((ROOT / name).exists() for name in allowed)
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[2:-1] if "*" not in word]
    assert copied and all(name == "." or name in allowed for name in copied)


def test_the_catalogue_finds_its_files():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    assert (ROOT / "workflow" / "Snakefile").exists() and (ROOT / "config" / "README.md").exists()
