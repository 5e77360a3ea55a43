"""Python on the pages imports what exists, and YAML on them is an experiment that is accepted."""

import ast
import doctest
import importlib
import importlib.util

import pytest

from epic.core.files import InputError
from tests.docs.pages import FILES, Page, expansions, page


def wrong_python(found: Page) -> list[str]:
    complaints = []
    for block in found.blocks("python"):
        examples = doctest.DocTestParser().get_examples(block)
        source = "".join(example.source for example in examples) or block
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                complaints += [f"no module {alias.name}" for alias in node.names if not importlib.util.find_spec(alias.name)]
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                absent = [alias.name for alias in node.names if not hasattr(module, alias.name)]
                complaints += [f"{node.module} has no {name}" for name in absent]
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in ("model", "Epic", "ranker")
            ):
                from epic.api import Epic, TextRanker

                kinds = [Epic, TextRanker] if node.value.id == "ranker" else [Epic]  # of a ranker, what every family has
                complaints += [f"{kind.__name__} has no {node.attr}" for kind in kinds if not hasattr(kind, node.attr)]
    return [f"{found.name}: {complaint}" for complaint in complaints]


def wrong_yaml(found: Page) -> list[str]:
    try:
        expansions(found)
    except InputError as error:
        return [f"{found.name}: {error}"]
    return []


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("check", [wrong_python, wrong_yaml], ids=lambda check: check.__name__)
def test_what_a_page_says_is_true(check, name):
    assert check(page(name)) == []


@pytest.mark.parametrize(
    ("check", "text", "complaint"),
    [
        (wrong_python, "```python\nfrom epic.core.files import nothing\n```", "has no nothing"),
        (wrong_python, "```python\nimport no_such_module\n```", "no module no_such_module"),
        (wrong_python, "```python\n>>> model.encode_querry('x')\n{}\n```", "no encode_querry"),
        (wrong_python, "```python\n>>> ranker.encode_query('x')\n{}\n```", "TextRanker has no encode_query"),
        (wrong_yaml, "```yaml\nrows:\n  - {id: bm25, kind: first-stage}\n```", "mine.yaml line"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(check, text, complaint):
    assert any(complaint in found for found in check(Page("README.md", text + "\n"))), check(Page("README.md", text + "\n"))
