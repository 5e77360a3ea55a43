"""Vocabularies made of a collection, of published lists, and of pre-trained vectors."""

import math
from collections import Counter
from pathlib import Path

import pytest

from epic.core.files import InputError, read_json
from epic.corpus.make_vocabulary import Sources, count, frequent, idf_of, make_vocabulary
from epic.corpus.vocabulary import Vocabulary, pretrained, read_words

PASSAGES = ("The pool, the pool", "a Pool costs", "a café", "")


@pytest.fixture
def made(collection_of, tmp_path):
    """Make a vocabulary of four passages; published files are given as texts."""

    def make(at_least=1, most=None, dimensions=2, tokeniser="letters", **files):
        for name, content in files.items():
            (tmp_path / f"{name}.txt").write_text(content, encoding="utf-8")
        sources = Sources(**{name: tmp_path / f"{name}.txt" for name in files})
        words = {"tokeniser": tokeniser, "at_least": at_least, "most": most}
        make_vocabulary(collection_of(*PASSAGES), {"words": words, "dimensions": dimensions}, sources, tmp_path / "out")
        return tmp_path / "out"

    return make


def test_a_word_counts_once_for_a_passage(collection_of):
    found = Counter({"pool": 2, "a": 2, "the": 1, "costs": 1, "caf": 1})
    assert count(collection_of(*PASSAGES), "letters") == found


def test_the_tokeniser_is_the_one_that_was_named(collection_of):
    assert count(collection_of(*PASSAGES), "blingfire")["café"] == 1


def test_words_of_most_passages_come_first_and_equals_by_name():
    assert frequent(Counter(b=2, a=2, d=1, c=3), 2, None) == ["c", "a", "b"]
    assert frequent(Counter(b=2, a=2, d=1, c=3), 1, 2) == ["c", "a"]


def test_no_word_that_is_frequent_enough_is_an_error():
    with pytest.raises(InputError, match=r"no word is in 3 or more passages, of 1 words in all; lower words\.at_least"):
        frequent(Counter(a=2), 3, None)


def test_idf_is_1_for_a_word_of_one_passage_and_0_for_a_word_of_all():
    assert idf_of(1, 1000) == 1.0 and idf_of(1000, 1000) == 0.0
    assert idf_of(10, 1000) == pytest.approx(2 / 3)
    assert idf_of(1, 1) == 0.0 and idf_of(0, 10) is None


def test_a_collection_s_own_vocabulary_has_passages_and_idf(made):
    out = made(at_least=2)
    value = math.log(2) / math.log(4)
    assert read_words(out / "words.tsv") == [("a", 2, value), ("pool", 2, value)]
    facts = {"tokeniser": "letters", "words": 2, "beyond": 0, "dimensions": None, "found": None, "passages": 4}
    assert read_json(out / "vocabulary.json") == facts
    assert pretrained(out) is None


def test_the_most_frequent_words_are_kept(made):
    assert Vocabulary.read(made(most=3)).words == ["a", "pool", "caf"]


def test_a_published_vocabulary_keeps_its_order_and_is_counted(made):
    out = made(vocabulary="zebra\t2\npool\t1\n")
    assert read_words(out / "words.tsv") == [("pool", 2, 0.5), ("zebra", 0, None)]
    assert Vocabulary.read(out).idf == [0.5, 0.0]


def test_a_published_idf_is_taken_and_its_other_words_stand_beyond_the_vocabulary(made):
    out = made(vocabulary="zebra\t2\npool\t1\n", idf="rare\t0.9\npool\t0.3\n")
    assert read_words(out / "words.tsv") == [("pool", None, 0.3), ("zebra", None, None), ("rare", None, 0.9)]
    vocabulary = Vocabulary.read(out)
    assert vocabulary.numbers("rare zebra pool x") == [-1, 1, 0, -1]
    assert vocabulary.numbers("rare zebra pool x", beyond=True) == [2, 1, 0, -1]


def test_with_both_published_the_collection_is_not_counted(made, monkeypatch):
    monkeypatch.setattr("epic.corpus.make_vocabulary.count", lambda *_: pytest.fail("it was counted"))
    assert read_json(made(vocabulary="pool\t1\n", idf="pool\t0.3\n") / "vocabulary.json")["passages"] == 4


def test_a_published_idf_of_a_collection_s_own_words_comes_with_their_passages(made):
    assert read_words(made(at_least=2, idf="pool\t0.3\n") / "words.tsv") == [("a", 2, None), ("pool", 2, 0.3)]


def test_vectors_are_those_of_the_words(made):
    out = made(at_least=2, vectors="pool 1 2\nzebra 3 4\n")
    vectors, known = pretrained(out)
    assert vectors.tolist() == [[0, 0], [1, 2]] and known.tolist() == [False, True]
    assert read_json(out / "vocabulary.json")["found"] == 1


def test_an_error_leaves_nothing_behind(made, tmp_path):
    with pytest.raises(InputError, match="none of the 5 words"):
        made(vectors="zebra 3 4\n")
    assert not (tmp_path / "out").exists()


def test_inputs_of_a_job_are_paths_or_empty_and_a_folder_is_refused():
    assert Sources.of("a.tsv", [], "v.zip") == (Path("a.tsv"), None, Path("v.zip"))
    with pytest.raises(InputError, match="glove: a folder; name the file of words or vectors itself"):
        Sources.of([], [], ["glove/a.txt", "glove/b.txt"])


def test_two_runs_write_the_same_bytes(made, tmp_path):
    first = {path.name: path.read_bytes() for path in made(vectors="pool 1 2\n").iterdir()}
    from epic.corpus.documents import Documents

    words = {"tokeniser": "letters", "at_least": 1, "most": None}
    documents, sources = Documents(f"path:{tmp_path / 'collection'}"), Sources(vectors=tmp_path / "vectors.txt")
    make_vocabulary(documents, {"words": words, "dimensions": 2}, sources, tmp_path / "again")
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == first
