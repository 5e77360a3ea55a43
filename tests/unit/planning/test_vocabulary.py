"""The cost of a vocabulary, against values worked out by hand."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.planning import vocabulary
from epic.planning.amounts import Collection, Given, Job
from epic.planning.cards import NO_CARD
from epic.planning.estimates import FORMULAS
from epic.planning.rates import START, vocabulary_memory
from tests.conftest import ROOT

MSMARCO = Collection(8_841_823, 346, {})
WORDS = {"tokeniser": "blingfire", "vocabulary": None, "at_least": 2, "most": 400_000, "idf": None, "vectors": None}
DOWNLOAD = {"file": "glove.zip", "urls": ["https://example.org/glove.zip"], "bytes": 1_880_000_000, "sha256": "0" * 64}
SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


def experiment(**words):
    settings = copy.deepcopy(SMOKE)
    settings["data"]["count"], settings["downloads"] = MSMARCO.passages, [DOWNLOAD]
    model = {"id": "known", "family": "tests.fake_words", "settings": {"words": WORDS | words, "dimensions": 300}}
    return settings | {"models": [settings["models"][0] | model | {"encoder": None}]}


def of(**words):
    return vocabulary.cost(Job("vocabulary", {"model": "known"}), experiment(**words), Given(MSMARCO, NO_CARD))


def test_the_plan_knows_the_formula():
    assert FORMULAS["vocabulary"] is vocabulary.cost


def test_counting_takes_a_quarter_of_an_hour_with_blingfire_and_half_of_it_with_letters():
    assert of().seconds == pytest.approx(8_841_823 * (1 / 37e3 + 1 / 13.8e3), rel=0.01)
    assert 14 * 60 < of().seconds < 15 * 60
    assert 8 * 60 < of(tokeniser="letters").seconds < 9 * 60


def test_lists_that_are_published_spare_the_counting():
    both = of(vocabulary="path:words.tsv", idf="path:idf.tsv").seconds
    assert both < START + 1 < 60 < of(vocabulary="path:words.tsv").seconds


def test_vectors_take_their_room_and_the_time_to_read_them():
    with_vectors, without = of(vectors="download:glove.zip"), of()
    assert with_vectors.written - without.written == 400_000 * 300 * 4
    assert with_vectors.seconds - without.seconds == pytest.approx(1.88e9 / 42e6 + 480e6 / 500e6)


def test_a_file_of_vectors_counts_by_its_size(tmp_path):
    (tmp_path / "glove.txt").write_bytes(bytes(185_000))
    more = of(vectors=f"path:{tmp_path}/glove.txt").seconds - of().seconds
    assert more == pytest.approx(1e-3 + 480e6 / 500e6)


def test_a_vocabulary_of_all_words_is_larger_and_needs_more_memory():
    assert of(most=None).written > 2 * of().written
    memory = [vocabulary_memory(experiment(most=most, vectors="download:glove.zip"), "known") for most in (400_000, None)]
    assert 1_700 < memory[0] < 1_900 < memory[1] < 9_000
    assert vocabulary_memory(experiment() | {"data": {"count": 336}}, "known") < 510
