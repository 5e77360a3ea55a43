"""What families declare, read without importing them."""

import subprocess
import sys

import pytest

from epic.core.files import InputError
from epic.experiment.families import MEMBERS, built_in, declared, module_of, odd_settings, refuse_unfit
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


def test_rules_between_sizes_are_declared_and_kept():
    found = declared("duet")
    assert [rule["at"] for rule in found.fits] == ["query_words", "passage_words"] and declared("epic").fits == ()
    sizes = {"query_words": 20, "passage_words": 200, "window": 3, "pool": 100}
    refuse_unfit(found, sizes | {"passage_words": 102}, {})
    with pytest.raises(
        InputError, match=r"settings\.passage_words: a passage of 101 words .*; raise passage_words to 102 or more"
    ):
        refuse_unfit(found, sizes | {"passage_words": 101}, {})
    with pytest.raises(InputError, match="encoder: query and passage are two segments, but the encoder has 1"):
        refuse_unfit(declared("cross_encoder"), {}, {"type_vocab_size": 1})


@pytest.mark.parametrize("name", [name for name in built_in() if name != "epic"])
def test_settings_by_themselves_are_those_that_the_schema_knows(name):
    settings = {"query_pieces": 62, "total_pieces": 511} if name == "cross_encoder" else {}
    found = declared(name)
    assert (list(odd_settings(found, settings)) == []) == (name == "cross_encoder")
    for odd in (None, 3, "x", [], {"a": 1}):
        assert list(odd_settings(found, odd))
    assert [place for place, _ in odd_settings(declared("cross_encoder"), {"query_pieces": "2", "total_pieces": 9})] == [
        ("query_pieces",)
    ]


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
        (GOOD + "FITS = {}\n", "FITS must be a list of rules with at, holds, says"),
        (GOOD + "FITS = [{'at': 'a', 'holds': 'a < 1'}]\n", "FITS must be a list of rules with at, holds, says"),
        (
            GOOD + "FITS = [{'at': 'a', 'holds': 'a < f(a)', 'says': ''}]\n",
            r"FITS has a rule that cannot be kept: 'f\(a\)' is no sum",
        ),
        (GOOD + "FITS = [{'at': 'a', 'holds': 'a <', 'says': ''}]\n", "FITS has a rule that cannot be kept"),
        (GOOD + "FITS = [{'at': 'a', 'holds': 3, 'says': ''}]\n", "FITS has a rule that cannot be kept"),
        (
            GOOD.replace("{}", "{'properties': {'settings': {'properties': {'size': {}}}}}")
            + "FITS = [{'at': 'size', 'holds': 'siez < 3', 'says': ''}]\n",
            "FITS speaks of siez, which is no setting of SETTINGS",
        ),
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
