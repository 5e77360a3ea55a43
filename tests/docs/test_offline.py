"""The page on machines without network names every file that the paper's experiment fetches, with its hash and its place."""

import pytest

from epic.experiment.yaml_lines import read_yaml
from tests.conftest import ROOT
from tests.docs.pages import Page, page

PAPER = read_yaml(ROOT / "workflow" / "experiments" / "paper.yaml").value
NUMBERS = dict(enumerate(("eight", "nine", "ten", "eleven", "twelve"), start=8))


def unnamed_files(found: Page, settings: dict) -> list[str]:
    """Files of `settings` that no line of a table names together with what pins them."""
    lines = [line for line in found.text.splitlines() if line.startswith("| ")]
    wanted = [(download["file"], download.get("md5") or download["sha256"]) for download in settings["downloads"]]
    for encoder in settings["encoders"]:
        pins = encoder["revision"], encoder["sha256"]
        wanted += [(encoder["source"], pin) for pin in pins if pin]
        wanted += [(encoder["source"], f"models--{encoder['source'].replace('/', '--')}/")]
    return [
        f"{found.name}: no line of a table has {name} and {pin}"
        for name, pin in wanted
        if not any(name in line.split(" | ")[0].replace(",", " ").split() and pin in line for line in lines)
    ]


def test_every_file_of_the_paper_is_named_with_its_hash_and_its_place():
    assert unnamed_files(page("docs/offline.md"), PAPER) == []


def test_the_page_of_the_run_has_as_many_files():
    assert f"| {NUMBERS[len(PAPER['downloads'])]} files, [listed" in page("docs/paper-run.md").text


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "no line of a table has glove.zip and 0a"),
        ("Place glove.zip, 0a.", "no line of a table has glove.zip and 0a"),
        ("| glove.zip | 0b |", "no line of a table has glove.zip and 0a"),
        ("| myglove.zip | 0a |", "no line of a table has glove.zip and 0a"),
        ("| glove.zip | 0a |", "no line of a table has a/bert and 1c"),
        ("| glove.zip | 0a |\n| a/bert | 1c |", "no line of a table has a/bert and models--a--bert/"),
    ],
)
def test_what_is_missing_is_named(line, complaint):
    settings = {
        "downloads": [{"file": "glove.zip", "md5": "0a"}],
        "encoders": [{"source": "a/bert", "revision": "1c", "sha256": None}],
    }
    assert any(complaint in found for found in unnamed_files(Page("docs/offline.md", line + "\n"), settings))
    whole = "| glove.zip (words) | 0a |\n| files of a/bert | `models--a--bert/1c/` |\n"
    assert unnamed_files(Page("docs/offline.md", whole), settings) == []
