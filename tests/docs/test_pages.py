"""The pages are those that were promised, and their tables say what the tests hold."""

import re

import pytest

from epic.experiment.check import SCHEMA
from epic.experiment.yaml_lines import read_yaml
from tests.conftest import ROOT
from tests.docs.pages import TREE, experiments, page
from tests.unit.test_layers import RANKS
from tests.unit.test_reruns import EDITS, HEAVY

PAGES = (
    "install", "mini", "paper-run", "offline", "cluster", "model", "python", "vector-store", "performance", "judging", "own-collection", "deepct", "recovery",
    "deviations", "developing", "query-generation",
)  # fmt: skip


def test_the_readme_is_two_screens_and_shows_its_pictures():
    readme = page("README.md")
    assert len(readme.text.splitlines()) <= 150
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme.text)
    assert sum(path.startswith("docs/") and path.endswith(".png") for path in shown) == 2
    assert all((ROOT / path).stat().st_size < 200_000 for path in shown)
    assert "never comparable with the paper's" in " ".join(readme.text.split())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_linked_from_the_readme_and_begins_with_what_one_can_do_after_it(name):
    title, empty, first = page(f"docs/{name}.md").text.splitlines()[:3]
    assert title.startswith("# ") and not empty and first.startswith("After this page you can ")
    assert f"](docs/{name}.md)" in page("README.md").text


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "docs" / "families").iterdir()))
def test_a_family_has_a_page_that_is_linked_from_the_readme(name):
    assert page(f"docs/families/{name}.md").text.splitlines()[2].startswith("After this page you can ")
    assert f"](docs/families/{name}.md)" in page("README.md").text


@pytest.mark.parametrize("experiment", ["smoke", "mini", "paper"])
def test_the_readme_names_every_kind_of_row(experiment):
    section = page("README.md").text.split("## One row")[1].split("\n## ")[0]
    for row in experiments()[experiment]["rows"]:
        kept = re.fullmatch(r"(\w+-)(?:bm25|doctttttquery)-(?:full|r\d+)", row["id"])
        assert f"`{row['id']}`" in section or (kept and re.search(f"`{kept[1]}(?:bm25-|\\.\\.\\.)", section)), row["id"]


def test_the_page_on_configuration_has_every_key_of_an_experiment():
    keys = set(read_yaml(SCHEMA).value["properties"]) - {"published_on"} | {"encoders"}  # expansion puts one in and takes one out
    rows = re.findall(r"(?m)^\| (`.*?) \| .* \|$", page("config/README.md").text)
    assert keys == {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def test_there_is_no_other_page():
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == set(PAGES)


def test_the_table_of_what_to_touch_has_all_subjects_and_names_files():
    section = page("docs/developing.md").text.split("## I want to change X: touch these files")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (.*?) \| (.*?) \|", section)[1:]
    subjects = {re.sub("^(an?|the) ", "", subject) for subject, _ in rows}
    assert subjects >= {"loss", "metric", "claim", "figure", "first stage", "ranker", "store format", "query set"}
    for subject, files in rows:
        assert re.search(rf"`(?:{'|'.join(TREE)})/", files), subject  # that they exist is tested above


def test_the_ranks_of_packages_are_those_that_are_tested():
    rows = re.findall(r"(?m)^\| (\d) \| (`epic/.*) \|$", page("docs/developing.md").text)
    said = {package: int(rank) for rank, packages in rows for package in re.findall(r"`epic/(\w+)/`", packages)}
    assert said == RANKS


def test_what_an_edit_reruns_is_what_the_test_of_reruns_says():
    section = page("docs/recovery.md").text.split("## After an edit")[1]
    rows = re.findall(r"(?m)^\| (`epic/.*?) \| (.*?) \|$", section)
    assert len(rows) > 8
    known = {}
    for module, _, _, rerun in EDITS:
        known.setdefault(f"epic/{module}", set()).update(rerun)
    for files, stages in rows:
        said = set() if stages == "none" else set(stages.split(", "))
        assert said <= set(HEAVY)
        assert all(known[file] == said for file in re.findall(r"`([^`]+)`", files)), files
