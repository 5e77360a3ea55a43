"""Words of texts, by the two tokenisers."""

import pickle
import random
import re

import pytest

from epic.core.files import InputError
from epic.corpus.words import TOKENISERS, tokeniser_named

ODD = "\x00 \x01\x1f\x7f\x85\xa0\u200b\u2028\ufeff\ufffe\U000e0001İΣſKaB9.é"


@pytest.fixture(scope="module")
def texts():
    """Five thousand short texts of odd characters and of any others."""
    draw = random.Random(7)
    others = [*range(0xD800), *range(0xE000, 0x110000)]  # all but halves of pairs, which no file can hold

    def letter():
        return draw.choice(ODD) if draw.random() < 0.7 else chr(draw.choice(others))

    return ["".join(letter() for _ in range(draw.randrange(12))) for _ in range(5_000)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's the U.S. price?", ["what", "'s", "the", "u.s.", "price", "?"]),
        ("e-mail: a@b.com", ["e", "-", "mail", ":", "a", "@", "b", ".", "com"]),
        ("Café 3.5%", ["café", "3.5", "%"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_blingfire_splits_off_punctuation_marks_and_lowers_words(text, words):
    assert tokeniser_named("blingfire")(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's the U.S. price?", ["what", "s", "the", "u", "s", "price"]),
        ("Café 3.5%", ["caf", "3", "5"]),
        ("", []),
        ("日本", []),
    ],
)
def test_letters_knows_nothing_but_letters_and_digits(text, words):
    assert tokeniser_named("letters")(text) == words


def test_letters_is_what_duet_s_authors_describe(texts):
    """Step by step: lower, drop what is no letter, digit or blank, split at blanks."""
    for text in texts:
        assert tokeniser_named("letters")(text) == re.sub(r"[^a-z0-9\s]", " ", text.lower()).split()


@pytest.mark.parametrize("name", TOKENISERS)
def test_no_word_is_empty_or_has_blanks_whatever_the_text(name, texts):
    words = [word for text in texts for word in tokeniser_named(name)(text)]
    assert len(words) > 1_000 and all(word.split() == [word] and "\0" not in word for word in words)


@pytest.mark.parametrize("name", TOKENISERS)
def test_a_zero_byte_ends_a_word_and_not_the_text(name):
    assert tokeniser_named(name)("a\0b c") == ["a", "b", "c"]


def test_an_unknown_tokeniser_is_refused_with_those_there_are():
    with pytest.raises(InputError, match=r"no tokeniser of words 'spacy'; there are blingfire, letters"):
        tokeniser_named("spacy")


@pytest.mark.parametrize("name", TOKENISERS)
def test_a_tokeniser_can_be_copied_to_another_process(name):
    assert pickle.loads(pickle.dumps(tokeniser_named(name))) is tokeniser_named(name)
