"""The schema of words: every family of words refers to it, and what has no effect is refused."""

import pytest

from epic.experiment.families import declared
from epic.experiment.strict_schema import Validator
from epic.experiment.word_schema import WORDS
from tests.tk import entry
from tests.words import duet_model


def errors(family, words):
    """The places that a family's schema refuses in a model with other words."""
    model = {"tk": entry, "duet": duet_model}[family]() | {"encoder": None}
    model["settings"] = model["settings"] | {"words": model["settings"]["words"] | words}
    return ["/".join(map(str, error.absolute_path)) for error in Validator(declared(family).settings).iter_errors(model)]


@pytest.mark.parametrize("family", ["tk", "duet"])
def test_words_are_counted_or_published_and_a_published_list_is_neither_cut_nor_thinned(family):
    assert errors(family, {}) == errors(family, {"at_least": 9, "most": 5}) == errors(family, {"vocabulary": "path:w.tsv"}) == []
    assert errors(family, {"vocabulary": "path:w.tsv", "at_least": 2}) == ["settings/words/at_least"]
    assert errors(family, {"vocabulary": "path:w.tsv", "most": 10}) == ["settings/words/most"]
    assert errors(family, {"tokeniser": "spaces"}) == ["settings/words/tokeniser"]
    assert errors(family, {"vectors": "glove.txt"}) == ["settings/words/vectors"] and errors(family, {"odd": 1})


def test_every_key_is_required_so_that_an_experiment_lists_every_value():
    assert set(WORDS["required"]) == WORDS["properties"].keys() and WORDS["additionalProperties"] is False


def test_only_duet_has_a_use_for_idf():
    assert errors("tk", {"idf": "path:idf.tsv"}) == ["settings/words/idf"] and errors("duet", {"idf": "path:idf.tsv"}) == []
