"""Links and paths on the pages lead somewhere."""

import re

import pytest

from tests.conftest import ROOT
from tests.docs.pages import FILES, TREE, Page, page


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", Page("", text).prose)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(found: Page) -> list[str]:
    complaints = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", found.prose)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / found.name).parent / path if path else ROOT / found.name
        if not file.exists() or ROOT not in file.resolve().parents:
            complaints.append(f"{found.name}: no file {target}")
        elif anchor and anchor not in anchors(found.text if not path else file.read_text(encoding="utf-8")):
            complaints.append(f"{found.name}: no heading {target}")
    return complaints


def absent_paths(found: Page) -> list[str]:
    """Paths of this repository in backticks that do not exist; and names in brackets behind them that the file does not have."""
    complaints = []
    pattern = rf"`((?:{'|'.join(TREE)})/[\w./-]*)`(?: \(((?:`[^`]+`(?:, )?)+))?"
    for path, names in re.findall(pattern, found.prose):
        if not (ROOT / path).exists():
            complaints.append(f"{found.name}: no {path}")
            continue
        for name in re.findall(r"`([^`]+)`", names):
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", (ROOT / path).read_text()):
                complaints.append(f"{found.name}: {path} has no {name}")
    return complaints


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("check", [broken_links, absent_paths], ids=lambda check: check.__name__)
def test_what_a_page_says_is_true(check, name):
    assert check(page(name)) == []


@pytest.mark.parametrize(
    ("check", "text", "complaint"),
    [
        (broken_links, "[a](docs/nowhere.md)", "no file docs/nowhere.md"),
        (broken_links, "[a](docs/model.md#no-such)", "no heading docs/model.md#no-such"),
        (broken_links, "# Here\n\n[a](#there)", "no heading #there"),
        (broken_links, "[a](/etc/passwd)", "no file /etc/passwd"),
        (absent_paths, "See `epic/nothing.py`.", "no epic/nothing.py"),
        (absent_paths, "See `epic/training/loss.py` (`LOSSES`, `LOSSEN`).", "has no LOSSEN"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(check, text, complaint):
    assert any(complaint in found for found in check(Page("README.md", text + "\n"))), check(Page("README.md", text + "\n"))
