"""Pre-trained vectors in GloVe's text format, from a text or a zip."""

import logging
import zipfile
from time import perf_counter

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.word_vectors import read_vectors

TEXT = "the 0.5 -1 2e-1\n, 1 2 3\npool 4 5 6\n"
WORDS = ["pool", "unknown", "the"]


@pytest.fixture
def text(tmp_path):
    """Write a text and return its path."""

    def written(content, name="glove.txt"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / name

    return written


@pytest.fixture
def zipped(tmp_path):
    """Write a zip of some texts and return its path."""

    def written(**members):
        with zipfile.ZipFile(tmp_path / "glove.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return tmp_path / "glove.zip"

    return written


def test_words_get_their_vectors_and_others_zeros(text):
    vectors, known = read_vectors(text(TEXT), WORDS, 3)
    assert vectors.tolist() == [[4, 5, 6], [0, 0, 0], [0.5, -1, np.float32(0.2)]]
    assert known.tolist() == [True, False, True] and vectors.dtype == np.float32


def test_a_zip_with_one_text_is_read_as_the_text_is(text, zipped):
    plain, packed = read_vectors(text(TEXT), WORDS, 3), read_vectors(zipped(**{"glove.3d.txt": TEXT, "README": "x"}), WORDS, 3)
    assert all((one == other).all() for one, other in zip(plain, packed, strict=True))


def test_of_several_texts_in_a_zip_that_of_the_dimensions_is_read(zipped):
    path = zipped(**{"glove.6B.2d.txt": "pool 1 2\n", "glove.6B.3d.txt": TEXT, "glove.6B.13d.txt": "pool 1\n"})
    assert read_vectors(path, WORDS, 3)[0][0].tolist() == [4, 5, 6]


def test_two_texts_in_a_zip_that_could_be_meant_are_refused(zipped):
    with pytest.raises(
        InputError, match=r"glove\.zip: holds 'a\.txt', 'b\.txt'; expected one \.txt file, or one whose name ends"
    ):
        read_vectors(zipped(**{"a.txt": TEXT, "b.txt": TEXT}), WORDS, 3)


def test_a_zip_without_a_text_is_refused(zipped):
    with pytest.raises(InputError, match=r"holds no \.txt file"):
        read_vectors(zipped(**{"vectors.bin": "x"}), WORDS, 3)


@pytest.mark.parametrize("left", [0.0, 0.3, 0.9])
def test_a_zip_that_was_cut_off_is_refused(zipped, left):
    path = zipped(**{"glove.txt": "".join(f"w{i} {i} {i} {i}\n" for i in range(5_000))})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * left)])
    with pytest.raises(InputError, match=r"glove\.zip: cannot be read .*fetch it anew"):
        read_vectors(path, ["w1"], 3)


def test_a_zip_with_damaged_content_is_refused_by_its_member(zipped):
    path = zipped(**{"glove.txt": "".join(f"w{i} {i} {i} {i}\n" for i in range(5_000))})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"glove\.txt"):
        read_vectors(path, ["w1"], 3)


def test_a_word_may_have_blanks_and_odd_characters(text):
    content = "the 1 1 1\n. . . 2 2 2\nat name@domain.com 3 3 3\n\xa0 4 4 4\n\x85\u2028 5 5 5\n日本 6 6 6\n"
    vectors, known = read_vectors(text(content), ["\xa0", "日本", "."], 3)
    assert vectors[:2].tolist() == [[4, 4, 4], [6, 6, 6]] and known.tolist() == [True, True, False]


def test_blanks_after_the_last_number_and_windows_line_ends_do_no_harm(text):
    assert read_vectors(text("the 1 2 3 \r\npool 4 5 6\r\n"), ["pool", "the"], 3)[0].tolist() == [[4, 5, 6], [1, 2, 3]]


def test_a_last_line_without_its_end_counts(text):
    assert read_vectors(text("the 1 2 3\npool 4 5 6"), ["pool"], 3)[1].all()


def test_of_a_word_that_comes_twice_the_first_line_counts_and_the_log_says_so(text, caplog):
    with caplog.at_level(logging.INFO):
        vectors, _ = read_vectors(text("the 1 1 1\npool 2 2 2\nthe 3 3 3\n"), ["the"], 3)
    assert vectors.tolist() == [[1, 1, 1]]
    assert (
        "3 lines; 1 of 1 words have a vector" in caplog.text and "1 lines of words that came before are left out" in caplog.text
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("the 1 2 3\npool 4 5\n", r"line 2: expected a word and 3 numbers, found 2 of them in 'pool 4 5'; the file was damaged"),
        ("the 1 2 3\n4 5 6\n", "line 2: expected a word and 3 numbers, found 2"),
        ("the 1 2 3\n 4 5 6\n", "line 2: expected a word and 3 numbers, found 3"),
        ("the 1 2 3\n\npool 4 5 6\n", "line 2: expected a word and 3 numbers, found 0"),
        ("the 1 2 3\npool 4 5 6 7\n", "line 2: expected a word and 3 numbers, found 4"),
        ("the 1 2 3\n" + "x " * 30 + "4 5 6\n", "line 2: expected a word and 3 numbers"),
    ],
)
def test_a_ragged_line_is_refused_wherever_it_is_and_whoever_wants_it(text, content, says):
    with pytest.raises(InputError, match=rf"glove\.txt {says}"):
        read_vectors(text(content), ["the"], 3)


@pytest.mark.parametrize("dimensions", [2, 4, 300])
def test_a_file_of_another_dimension_is_refused_at_its_first_line(text, dimensions):
    says = (
        rf"line 1: expected a word and {dimensions} numbers, found 3 of them in 'the .*'; correct `dimensions` in the experiment"
    )
    with pytest.raises(InputError, match=says):
        read_vectors(text(TEXT), WORDS, dimensions)


def test_the_header_of_another_format_is_refused(text):
    with pytest.raises(
        InputError, match=r"line 1: '2 3' is the header of fastText's or word2vec's format; give the file without it"
    ):
        read_vectors(text("2 3\nthe 1 2 3\npool 4 5 6\n"), ["the"], 3)


def test_a_file_with_none_of_the_words_is_refused_with_some_of_both(text):
    says = r"none of the 2 words of the vocabulary; it begins with 'the', ',', 'pool', the vocabulary with 'le', 'la'"
    with pytest.raises(InputError, match=says):
        read_vectors(text(TEXT), ["le", "la"], 3)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e39", "1e999", "x", "1_0", "٣", "0x1", "1,5", "--1", "e"])
def test_what_is_no_finite_number_is_refused_with_its_line(text, value):
    with pytest.raises(InputError, match=rf"line 2: '{value}' is no number of a vector; the file was damaged"):
        read_vectors(text(f"the 1 2 3\npool 4 {value} 6\n"), ["the", "pool"], 3)


def test_a_first_line_without_numbers_is_refused_though_nobody_wants_it(text):
    with pytest.raises(InputError, match="line 1: 'upon' is no number"):
        read_vectors(text("once upon a so\nthe 1 2 3\n"), ["the"], 3)


def test_a_field_of_a_million_digits_is_read_or_refused_at_once(text):
    begun = perf_counter()
    assert read_vectors(text(f"the 1 2 {'1' * 10}.{'2' * 10**6}\n"), ["the"], 3)[1].all()
    with pytest.raises(InputError, match="is no number of a vector"):
        read_vectors(text(f"the 1 2 {'1' * 10**6}x\n"), ["the"], 3)
    assert perf_counter() - begun < 2


def test_an_empty_file_is_refused(text, zipped):
    for path in (text(""), zipped(**{"glove.txt": ""})):
        with pytest.raises(InputError, match=r"the file is empty; expected a line `word v1 \.\.\. v3` for each word"):
            read_vectors(path, WORDS, 3)


def test_bytes_that_are_no_text_are_refused_with_their_line(text):
    with pytest.raises(InputError, match="line 2: not UTF-8"):
        read_vectors(text(b"the 1 2 3\n\xff 4 5 6\n"), ["the"], 3)
