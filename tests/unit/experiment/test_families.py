"""What families declare, read without importing them."""

import subprocess
import sys

import pytest

from epic.core.files import InputError
from epic.experiment.families import MEMBERS, built_in, declared, module_of
from epic.rankers import family
from tests.conftest import ROOT


def test_epic_declares_that_it_precomputes_and_what_a_query_s_time_consists_of():
    found = declared("epic")
    assert found.precomputes and found.stages["beside"] == [["retrieve", "load"], ["query_vector"]] and "epic" in built_in()
    assert found.source == ROOT / "epic" / "rankers" / "epic.py" and module_of("epic") == "epic.rankers.epic"


def test_declarations_are_what_the_module_says_once_it_is_imported():
    module, found = family("epic"), declared("epic")
    assert (found.precomputes, found.settings, found.stages) == (module.PRECOMPUTES, module.SETTINGS, module.STAGES)
    assert not found.words
    offered = {name for names in MEMBERS.values() for name in names} - {"Ranker", "SPARSE"}  # not every family has these
    assert all(hasattr(module, name) for name in offered)


def test_reading_declarations_does_not_import_torch():
    code = "import sys; from epic.experiment.families import declared; declared('epic'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_family_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match=r"there is no family nope; there are (\w+, )*epic"):
        declared("nope")
    with pytest.raises(InputError, match=r"there is no family no\.such\.module"):
        declared("no.such.module")
    with pytest.raises(InputError, match="name a family of this package by its last word: epic"):
        declared("epic.rankers.epic")


GOOD = "PRECOMPUTES = False\nSETTINGS = {}\nSTAGES: dict = {'beside': [['retrieve']], 'after': []}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace("SETTINGS = {}", "SETTINGS = dict(a=1)"),
            r"ranker\.py: a family must declare SETTINGS \(dict\), as a literal",
        ),
        (GOOD.replace("False", "'no'"), r"a family must declare PRECOMPUTES \(bool\)"),
        (GOOD.replace("SETTINGS = {}", "SETTINGS = {'type': 'objekt'}"), "SETTINGS is no JSON schema"),
        (GOOD.replace("'after'", "'then'"), "STAGES must have the keys beside and after"),
        ("def broken(:\n", "not a module that can be read"),
        ("PRECOMPUTES = {[]: 1}\n", "must declare PRECOMPUTES"),
    ],
)
def test_a_module_of_one_s_own_is_refused_with_what_it_lacks(tmp_path, monkeypatch, text, message):
    package = tmp_path / f"mine_{abs(hash(text))}"  # Python remembers packages by their names
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ranker.py").write_text(GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    assert not declared(f"{package.name}.ranker").precomputes
    (package / "ranker.py").write_text(text + "#\n")
    with pytest.raises(InputError, match=message):
        declared(f"{package.name}.ranker")
