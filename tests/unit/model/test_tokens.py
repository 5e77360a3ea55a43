"""Word-pieces: the tokens around a text, and windows of long ones."""

import subprocess
import sys

import pytest
from tokenizers import Tokenizer, models, processors

from epic.core.files import InputError
from epic.model.tokens import refuse_unknown_pieces, special_tokens, tokenizer_of, windows_of, word_of
from tests.conftest import ROOT


@pytest.mark.parametrize(("length", "expected"), [(0, [0]), (1, [1]), (14, [14]), (15, [8, 7]), (29, [10, 10, 9])])
def test_windows_are_few_and_equal_but_for_a_shorter_last_one(length, expected):
    windows = windows_of(list(range(length)), 14)
    assert [len(window) for window in windows] == expected
    assert [piece for window in windows for piece in window] == list(range(length))


@pytest.mark.parametrize(
    ("length", "longest", "expected"),
    [
        (3, 3, [3]),
        (3, 14, [3]),
        (3, 15, [3, 0]),
        (9, 15, [8, 1]),
        (15, 15, [8, 7]),
        (0, 29, [0, 0, 0]),
        (0, 0, [0]),
        (30, 29, [10, 10, 9]),
    ],
)
def test_beside_a_longer_text_a_text_has_the_windows_of_that_one_and_is_never_longer(length, longest, expected):
    windows = windows_of(list(range(length)), 14, longest)
    assert [len(window) for window in windows] == expected
    assert [piece for window in windows for piece in window] == list(range(min(length, longest)))


@pytest.mark.parametrize("window", [1, 2, 14, 510])
def test_no_window_of_a_text_is_empty_or_too_long(window):
    for length in range(1, 8 * window):
        sizes = [len(part) for part in windows_of([0] * length, window)]
        assert sum(sizes) == length and min(sizes) > 0 and max(sizes) == sizes[0] <= window


def test_the_special_tokens_are_those_of_the_tokenizer_even_where_both_pairs_exist():
    words = {word: place for place, word in enumerate(["<s>", "</s>", "[CLS]", "[SEP]", "[UNK]", "a"])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    assert special_tokens(tokenizer) == (2, 3)
    tokenizer.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    assert special_tokens(tokenizer) == (0, 1)
    with pytest.raises(InputError, match=r"neither \[CLS\]"):
        special_tokens(Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")))


def test_one_window_of_one_word_piece_each_is_possible():
    assert windows_of([7, 8, 9], 1) == [[7], [8], [9]]


def test_the_tokens_of_roberta_are_found_by_name_where_bert_s_are_absent():
    words = {word: place for place, word in enumerate(["<unk>", "[CLS]", "</s>", "<s>"])}
    assert special_tokens(Tokenizer(models.WordPiece(words, unk_token="<unk>"))) == (3, 2)


def test_limits_and_padding_that_an_encoder_ships_are_taken_off(tiny_encoder, tmp_path):
    shipped = Tokenizer.from_file(str(tiny_encoder / "tokenizer.json"))
    shipped.enable_padding(length=9)
    shipped.save(str(tmp_path / "tokenizer.json"))
    assert len(shipped.encode("a b c d e f").ids) == 9 and shipped.encode("a b c d e f").tokens.count("[PAD]") == 5
    found = tokenizer_of(tmp_path)
    assert found.encode("a b c d e f").tokens == ["a", "b", "c", "d", "e", "f"] and found.encode("").ids == []
    assert found.encode("Pools CAFÉ 漢").tokens == ["pool", "##s", "café", "[UNK]"]


def test_nothing_here_needs_torch():
    code = "import sys, epic.model.tokens; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout == "False\n"


def test_every_entry_of_the_vocabulary_has_a_name(padded_model):
    names = [word_of(padded_model.tokenizer, term) for term in range(padded_model.vocabulary)]
    assert len(set(names)) == len(names) and names[0] == "[PAD]"
    assert names[-3:] == [f"[unused {term}]" for term in range(len(names) - 3, len(names))]


@pytest.mark.parametrize("text", [None, "", "{", "[]", "null", '{"model": {}}', "<html>"])
def test_a_tokenizer_that_is_damaged_or_not_there_is_refused_by_its_name(tmp_path, text):
    if text is not None:
        (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(InputError, match=f"^{tmp_path}/tokenizer.json: it cannot be read as a tokenizer"):
        tokenizer_of(tmp_path)


@pytest.mark.parametrize(
    ("numbers", "rows", "refused"), [([0, 1, 2], 3, False), ([0, 1, 2], 2, True), ([0, 1, 3], 3, True), ([0, 1], 9, False)]
)
def test_word_pieces_that_the_embeddings_do_not_have_are_refused(numbers, rows, refused):
    tokenizer = Tokenizer(models.WordPiece({f"w{number}": number for number in numbers}, unk_token="w0"))
    if refused:
        said = f"/x/tokenizer.json: {len(numbers)} word-pieces, but the model has embeddings of {rows}"
        with pytest.raises(InputError, match=said):
            refuse_unknown_pieces(tokenizer, rows, "/x")
    else:
        refuse_unknown_pieces(tokenizer, rows, "/x")
