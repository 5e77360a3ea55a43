"""Code digests: comments do not count, code does, and imports are followed."""

import pytest

from epic.core.code_digest import code_digest, modules_of


@pytest.fixture
def package(tmp_path):
    (tmp_path / "epic").mkdir()
    (tmp_path / "epic" / "__init__.py").write_text("")
    (tmp_path / "epic" / "a.py").write_text('"""Doc."""\n\ndef f():\n    """Doc."""\n    from epic.b import g\n    return g()\n')
    (tmp_path / "epic" / "b.py").write_text("def g():\n    return 1\n")
    (tmp_path / "epic" / "c.py").write_text("x = 1\n")
    (tmp_path / "script.py").write_text("from epic.a import f\nf()\n")
    return tmp_path


def digest(package):
    return code_digest(package / "script.py", package)


def test_imports_are_followed_even_inside_functions(package):
    assert [path.stem for path in modules_of(package / "script.py", package)] == ["a", "b"]


def test_comments_docstrings_and_other_modules_do_not_count(package):
    before = digest(package)
    (package / "epic" / "a.py").write_text(
        '"""Other."""\n# a comment\ndef f():\n    """Other."""\n    from epic.b import g\n    return g()\n'
    )
    (package / "epic" / "c.py").write_text("x = 2\n")
    assert digest(package) == before


def test_what_writes_no_result_does_not_count(package):
    (package / "script.py").write_text("from epic.a import f\nfrom epic.core.log import log_to\nf()\n")
    (package / "epic" / "log.py").write_text("level = 1\n")
    before = digest(package)
    (package / "epic" / "log.py").write_text("level = 2\n")
    assert digest(package) == before


@pytest.mark.parametrize(
    ("name", "text"), [("epic/b.py", "def g():\n    return 2\n"), ("script.py", "from epic.a import f\nf(), f()\n")]
)
def test_code_counts_in_the_script_and_in_what_it_reaches(package, name, text):
    before = digest(package)
    (package / name).write_text(text)
    assert digest(package) != before


def test_words_of_errors_and_of_log_records_do_not_count_but_what_they_do_does(package):
    text = 'def g(x):\n    log.info("one %d", x)\n    if x:\n        raise ValueError(f"bad {x}")\n    return 1\n'
    (package / "epic" / "b.py").write_text(text)
    before = digest(package)
    (package / "epic" / "b.py").write_text(text.replace("one %d", "two %d").replace("bad {x}", "worse: {x!r}"))
    assert digest(package) == before
    for old, new in (("ValueError", "KeyError"), ("log.info", "print"), ("if x:", "if not x:")):
        (package / "epic" / "b.py").write_text(text.replace(old, new))
        assert digest(package) != before, new


FAMILY = """
from epic.b import g
import epic.c
SIZE = 3
def train(card):
    return g() + SIZE
def card():
    return "words"
def score():
    return epic.c.x
"""


@pytest.fixture
def family(package):
    """A family's module, and the digest of a stage that uses some of its members."""
    source = package / "family.py"

    def of(text, *members):
        source.write_text(text)
        return code_digest(package / "script.py", package, source=source, members=members)

    return of


def test_of_a_family_only_the_members_that_are_used_count(family):
    before = family(FAMILY, "score")
    assert (
        family(FAMILY.replace("SIZE = 3", "SIZE = 4"), "score") == before == family(FAMILY.replace('"words"', '"other"'), "score")
    )
    assert family(FAMILY.replace("epic.c.x", "epic.c.x + 1"), "score") != before
    assert family(FAMILY, "train") != family(FAMILY.replace("SIZE = 3", "SIZE = 4"), "train")


def test_what_a_used_member_imports_counts(family, package):
    before, other = family(FAMILY, "score"), family(FAMILY, "train")
    (package / "epic" / "c.py").write_text("x = 7\n")
    assert family(FAMILY, "score") != before and family(FAMILY, "train") == other


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from epic.b import *\n", "from epic.c import *\n"),
        ("@register\ndef hidden():\n    return 1\n", "@register\ndef hidden():\n    return 2\n"),
        ("_ = call(1)\n", "_ = call(2)\n"),
        ("def __getattr__(name):\n    return 1\n", "def __getattr__(name):\n    return 2\n"),
        (
            "def score():\n    return globals()['x']()\ndef x():\n    return 1\n",
            "def score():\n    return globals()['x']()\ndef x():\n    return 2\n",
        ),
        ("if True:\n    Y = 1\n", "if True:\n    Y = 2\n"),
        ("LIMIT: int = 1\ndef score():\n    return LIMIT\n", "LIMIT: int = 2\ndef score():\n    return LIMIT\n"),
    ],
)
def test_what_may_do_more_than_give_a_name_a_meaning_always_counts(family, before, after):
    assert family(before, "score") != family(after, "score")


def test_other_modules_of_a_family_s_own_package_count_relative_or_not(package):
    folder = package / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for line in ("from mine.base import score\n", "from .base import score\n", "from . import base\n"):
        (folder / "family.py").write_text(line)
        found = []
        for value in (1, 2):
            (folder / "base.py").write_text(f"def score():\n    return {value}\n")
            members = ("score", "base")
            found.append(code_digest(package / "script.py", package, source=folder / "family.py", members=members))
        assert found[0] != found[1], line


def test_of_rankers_that_serve_several_families_only_what_is_imported_counts(package):
    (package / "epic" / "rankers").mkdir()
    (package / "epic" / "rankers" / "__init__.py").write_text("")
    (package / "family.py").write_text("from epic.rankers.pairs import save, score\n")
    found = {}
    for name, text in (
        ("", "def save():\n    return 1\ndef score():\n    return 1\n"),
        ("save", "def save():\n    return 2\ndef score():\n    return 1\n"),
    ):
        (package / "epic" / "rankers" / "pairs.py").write_text(text)
        for member in ("save", "score"):
            digests = code_digest(package / "script.py", package, source=package / "family.py", members=(member,))
            found[name, member] = digests
    assert found["", "save"] != found["save", "save"] and found["", "score"] == found["save", "score"]
