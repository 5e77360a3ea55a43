"""Code digests: comments do not count, code does, and imports are followed."""

import pytest

from epic.digest import code_digest, modules_of


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
    (package / "script.py").write_text("from epic.a import f\nfrom epic.log import log_to\nf()\n")
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
