"""Vocabularies of models that know words: what they depend on, and which files they read."""

import pytest

from epic.core.files import InputError
from epic.experiment import inputs, word_inputs
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Source, output
from tests.conftest import ROOT

SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


def of_words(**words):
    """Smoke with a model that knows words."""
    said = {"tokeniser": "letters", "vocabulary": None, "at_least": 2, "most": 9, "idf": None, "vectors": None} | words
    model = {"id": "known", "family": "tests.fake_words", "encoder": None, "settings": {"words": said, "dimensions": 3}}
    return SMOKE | {"models": [SMOKE["models"][0], SMOKE["models"][0] | model]}


def test_a_vocabulary_reads_the_published_files_that_it_names():
    assert word_inputs.vocabulary(of_words(), "known") == {"vocabulary": [], "idf": [], "vectors": []}
    found = word_inputs.vocabulary(of_words(vectors="download:glove.zip", idf="path:idf.tsv"), "known")
    assert found == {"vocabulary": [], "idf": Source("path:idf.tsv"), "vectors": Source("download:glove.zip")}
    with pytest.raises(InputError, match="model paper has no vocabulary: its family knows no words"):
        word_inputs.vocabulary(of_words(), "paper")


def test_a_model_of_words_is_trained_with_its_vocabulary_and_others_with_none():
    known = inputs.training(of_words(), "known")
    assert known["vocabulary"] == output("vocabulary.folder", model="known") and known["encoder"] == []
    assert inputs.training(of_words(), "paper")["vocabulary"] == []


def test_models_that_know_the_same_words_share_a_vocabulary_whatever_else_they_have():
    first = of_words()["models"][1]
    deeper = first | {"id": "deeper", "settings": first["settings"] | {"layers": 3}}
    fewer = first | {"id": "fewer", "settings": first["settings"] | {"words": first["settings"]["words"] | {"most": 8}}}
    vectors = {
        name: first
        | {"id": name, "settings": {"dimensions": 3, "words": first["settings"]["words"] | {"vectors": f"path:{name}"}}}
        for name in ("a", "b")
    }
    settings = SMOKE | {"models": [SMOKE["models"][0], first, deeper, fewer, *vectors.values()]}
    found = {model["id"]: word_inputs.vocabulary_of(settings, model["id"]) for model in settings["models"][1:]}
    assert found == {"known": "known", "deeper": "known", "fewer": "fewer", "a": "a", "b": "b"}
    assert inputs.training(settings, "deeper")["vocabulary"] == output("vocabulary.folder", model="known")
    with pytest.raises(InputError, match="model paper has no vocabulary"):
        word_inputs.vocabulary_of(settings, "paper")


def test_a_vocabulary_depends_on_what_it_is_made_of_and_on_nothing_else():
    def of(dimensions=3, **words):
        said = {"tokeniser": "letters", "vocabulary": None, "at_least": 2, "most": 9, "idf": None, "vectors": None} | words
        model = {
            "family": "tests.fake_words",
            "encoder": None,
            "settings": {"words": said, "dimensions": dimensions, "layers": 1},
        }
        return word_inputs.words_of(SMOKE | {"models": [SMOKE["models"][0] | model]}, SMOKE["models"][0]["id"])

    assert of() == {"words": {"tokeniser": "letters", "at_least": 2, "most": 9}, "dimensions": None} == of(dimensions=300)
    assert of(vectors="path:v.txt")["dimensions"] == 3
    assert of(vocabulary="path:w.tsv") == {"words": {"tokeniser": "letters"}, "dimensions": None}  # which words is said there
    assert of(at_least=None, most=None)["words"] == {"tokeniser": "letters", "at_least": 1, "most": None}
    with pytest.raises(InputError, match="model paper has no vocabulary"):
        word_inputs.words_of(SMOKE, "paper")
