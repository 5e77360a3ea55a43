"""The folder of a vocabulary, written and read."""

import copy
import json

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.vocabulary import Vocabulary, Word, pretrained, write

WORDS = [Word("the", 3, 0.0), Word("pool", 2, 0.25), Word("café", 1, 1.0)]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([True, False, True])  # (3, 2), (3,)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "vocabulary", "blingfire", WORDS, 4, vectors=VECTORS)
    return tmp_path / "vocabulary"


def test_what_is_written_is_read(folder):
    vocabulary = Vocabulary.read(folder)
    assert (vocabulary.tokeniser, vocabulary.words, vocabulary.idf) == ("blingfire", ["the", "pool", "café"], [0.0, 0.25, 1.0])
    assert len(vocabulary) == 3 and vocabulary.beyond == []
    vectors, known = pretrained(folder)
    assert (vectors == VECTORS[0]).all() and (known == VECTORS[1]).all() and vectors.dtype == np.float32


def test_the_files_are_as_the_module_says(folder):
    assert (folder / "words.tsv").read_bytes() == "the\t3\t0.0\npool\t2\t0.25\ncafé\t1\t1.0\n".encode()
    facts = {"tokeniser": "blingfire", "words": 3, "beyond": 0, "dimensions": 2, "found": 2, "passages": 4}
    assert json.loads((folder / "vocabulary.json").read_text()) == facts
    assert {path.name for path in folder.iterdir()} == {*Vocabulary.files, "vectors.safetensors"}


def test_numbers_are_those_of_lines_and_unknown_words_have_none(folder):
    vocabulary = Vocabulary.read(folder)
    assert vocabulary.numbers("The pool, the Café") == [0, 1, -1, 0, 2]
    assert vocabulary.numbers("The pool, the Café", 3) == [0, 1, -1]
    assert vocabulary.numbers("", 3) == [] == vocabulary.numbers("a", 0)


def test_the_tokeniser_is_that_of_the_folder(tmp_path):
    write(tmp_path / "letters", "letters", WORDS, 4)
    assert Vocabulary.read(tmp_path / "letters").numbers("The pool, café") == [0, 1, -1]  # caf


def test_a_vocabulary_without_vectors_has_none(tmp_path):
    write(tmp_path / "v", "letters", WORDS, 4)
    assert pretrained(tmp_path / "v") is None and not (tmp_path / "v" / "vectors.safetensors").exists()
    assert json.loads((tmp_path / "v" / "vocabulary.json").read_text())["found"] is None


def test_words_without_passages_and_idf_are_read(tmp_path):
    write(tmp_path / "v", "letters", [Word("a"), Word("b")], 4)
    assert Vocabulary.read(tmp_path / "v").idf is None


def test_a_word_without_an_idf_beside_others_has_0(tmp_path):
    write(tmp_path / "v", "letters", [Word("a"), Word("b", None, 0.5)], 4)
    assert Vocabulary.read(tmp_path / "v").idf == [0.0, 0.5]


def test_words_beyond_the_vocabulary_have_an_idf_and_a_number_if_asked_for(tmp_path):
    write(tmp_path / "v", "letters", [Word("a", None, 0.1), Word("b")], 4, beyond=[Word("c", None, 0.7)])
    vocabulary = Vocabulary.read(tmp_path / "v")
    assert vocabulary.words == ["a", "b"] and vocabulary.idf == [0.1, 0.0, 0.7]
    assert vocabulary.numbers("a c d") == [0, -1, -1]
    assert vocabulary.numbers("a c d", beyond=True) == [0, 2, -1]


def test_idf_keeps_every_digit(tmp_path):
    value = 0.1 + 0.2
    write(tmp_path / "v", "letters", [Word("a", 1, value), Word("b", 1, 5e-324)], 4)
    assert Vocabulary.read(tmp_path / "v").idf == [value, 5e-324]


def test_a_copy_of_a_vocabulary_works(folder):
    vocabulary = copy.deepcopy(Vocabulary.read(folder))
    assert vocabulary.numbers("the pool") == [0, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("the\t3\t0.0\npool\t2\t0.25\n", r"words\.tsv: 2 words, vocabulary\.json speaks of 3"),
        ("the\t3\t0.0\npool\t2\ncafé\t1\t1.0\n", "line 2: expected another word TAB passages TAB idf"),
        ("the\t3\t0.0\npool\t2\t0.25\npool\t1\t1.0\n", "line 3: expected another word"),
        ("the\t3\t0.0\np l\t2\t0.25\ncafé\t1\t1.0\n", "line 2"),
        ("the\t-3\t0.0\npool\t2\t0.25\ncafé\t1\t1.0\n", "line 1: '-3' is no number of passages"),
        ("the\t3\tnan\npool\t2\t0.25\ncafé\t1\t1.0\n", "line 1: 'nan' is no idf"),
        ("the\t3\t1e999\npool\t2\t0.25\ncafé\t1\t1.0\n", "line 1: '1e999' is no idf"),
        ("the\t3\t-0.5\npool\t2\t0.25\ncafé\t1\t1.0\n", "line 1: '-0.5' is no idf"),
    ],
)
def test_a_damaged_list_is_refused_with_its_line_and_remedy(folder, text, says):
    (folder / "words.tsv").write_text(text)
    with pytest.raises(InputError, match=rf"{says}.*make it again \(snakemake {folder} --force"):
        Vocabulary.read(folder)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tokeniser": "spacy"}, "names no tokeniser of blingfire, letters"),
        ({"words": 0}, "does not say how many"),
        ({"words": True}, "does not say how many"),
        ({"beyond": None}, "does not say how many"),
        ({"passages": -1}, "does not say how many"),
        ({"dimensions": 0}, "0 are no dimensions"),
        ({"words": 2}, "3 words, vocabulary.json speaks of 2"),
    ],
)
def test_damaged_facts_are_refused(folder, change, says):
    facts = json.loads((folder / "vocabulary.json").read_text())
    (folder / "vocabulary.json").write_text(json.dumps(facts | change))
    with pytest.raises(InputError, match=says):
        Vocabulary.read(folder)


def test_facts_that_are_a_list_are_refused(folder):
    (folder / "vocabulary.json").write_text("[]")
    with pytest.raises(InputError, match="names no tokeniser"):
        Vocabulary.read(folder)


def test_damaged_vectors_are_refused(folder):
    path = folder / "vectors.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match="not a file of vectors"):
        pretrained(folder)


def test_vectors_that_are_not_finite_are_refused(folder):
    from safetensors.numpy import save_file

    vectors = np.array([[1, 2], [3, np.nan], [4, 5]], np.float32)  # (n, d)
    save_file({"vectors": vectors, "known": VECTORS[1]}, folder / "vectors.safetensors")
    with pytest.raises(InputError, match=r"vectors\.safetensors: a number is not finite; it was damaged"):
        pretrained(folder)


@pytest.mark.parametrize("shape", [(2, 2), (3, 3)])
def test_vectors_of_another_shape_are_refused(folder, shape):
    from safetensors.numpy import save_file

    known = np.zeros(shape[0], dtype=bool)  # (n,)
    save_file({"vectors": np.zeros(shape, dtype=np.float32), "known": known}, folder / "vectors.safetensors")
    with pytest.raises(InputError, match="speaks of 3 words in 2 dimensions"):
        pretrained(folder)
