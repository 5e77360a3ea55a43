"""Files of older repositories: pickled weights become safetensors without running code, a vocabulary becomes a tokenizer."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from epic.core.files import InputError
from epic.model.encoder import encoder_folder
from epic.model.older_formats import read_pickled, to_safetensors, write_tokenizer
from tests.cross_encoders import MINILM
from tests.hostile import TEXTS

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class Malicious:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_come_back_as_they_were_and_tied_ones_are_written_twice(tmp_path, zipped):
    words = torch.randn(5, 3)
    state = {
        "words": words, "decoder": words, "part": words[1:3], "turned": words.T, "half": torch.randn(2).half(),
        "position_ids": torch.arange(4)[None], "scalar": torch.tensor(2.0),
    }  # fmt: skip
    torch.save(state, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    to_safetensors(tmp_path / "pytorch_model.bin", tmp_path / "one")
    found = load_file(tmp_path / "one")
    assert found.keys() == state.keys() and all(torch.equal(found[name], value) for name, value in state.items())
    assert found["half"].dtype == torch.float16 and found["position_ids"].dtype == torch.int64
    to_safetensors(tmp_path / "pytorch_model.bin", tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").stat().st_mode & 0o777 == (tmp_path / "pytorch_model.bin").stat().st_mode & 0o777


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("wrapped", [True, False])
def test_a_pickle_that_would_run_code_is_refused_and_nothing_is_run(tmp_path, zipped, wrapped):
    evil = Malicious(tmp_path / "proof")
    torch.save({"a": torch.ones(1), "b": evil} if wrapped else evil, tmp_path / "bad.bin", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=r"bad\.bin: torch cannot read it as weights"):
        to_safetensors(tmp_path / "bad.bin", tmp_path / "out")
    assert not (tmp_path / "proof").exists() and not (tmp_path / "out").exists()


def test_a_plain_pickle_that_would_run_code_is_refused_too(tmp_path):
    import pickle

    (tmp_path / "bad.bin").write_bytes(pickle.dumps(Malicious(tmp_path / "proof")))
    with pytest.raises(InputError, match="cannot read it as weights"):
        read_pickled(tmp_path / "bad.bin")
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([torch.ones(1)], "not a state dict"),
        ({"model": {"a": torch.ones(1)}}, "not a state dict"),
        ({"a": 3}, "not a state dict"),
        ({3: torch.ones(1)}, "not a state dict"),
        ({"a": torch.eye(3).to_sparse()}, r"a is no plain tensor \(1 such\)"),
        ({"a": torch.zeros(1).expand(10**6, 10**6)}, r"a is no plain tensor \(1 such\)"),
    ],
)
def test_what_is_no_state_dict_of_plain_tensors_is_refused(tmp_path, content, message):
    torch.save(content, tmp_path / "weights.bin")
    with pytest.raises(InputError, match=message):
        to_safetensors(tmp_path / "weights.bin", tmp_path / "out")


def test_a_file_that_was_cut_off_and_one_that_is_not_there_are_refused(tmp_path):
    torch.save({"a": torch.randn(1000)}, tmp_path / "weights.bin")
    (tmp_path / "cut.bin").write_bytes((tmp_path / "weights.bin").read_bytes()[:2000])
    for name in ("cut.bin", "none.bin"):
        with pytest.raises(InputError, match=f"{name}: torch cannot read it as weights"):
            to_safetensors(tmp_path / name, tmp_path / "out")


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    """vocab.txt of uncased BERT."""
    found = Tokenizer.from_file(str(encoder_folder(MINILM, None) / "tokenizer.json")).get_vocab()
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("".join(f"{word}\n" for word in sorted(found, key=found.get)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "settings", [{}, {"do_lower_case": False}, {"strip_accents": False}, {"do_lower_case": True, "tokenize_chinese_chars": False}]
)
def test_a_tokenizer_of_a_vocabulary_is_the_one_that_transformers_makes(vocabulary, tmp_path, settings):
    from transformers import BertTokenizerFast

    shutil.copyfile(vocabulary, tmp_path / "vocab.txt")
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 512, "tokenizer_class": "BertTokenizer"} | settings)
    )
    theirs = BertTokenizerFast.from_pretrained(tmp_path)
    assert write_tokenizer(vocabulary, settings, tmp_path / "ours.json") == 30522
    ours = Tokenizer.from_file(str(tmp_path / "ours.json"))
    texts = [
        "", "What's the price of a pool?", "café NAÏVE Zürich ÅNGSTRÖM ﬁ", "東京タワー 2020年", "a" * 200, "x\u00a0y\tz\r\n", "[MASK] it [SEP]",
        "unaffordable tokenization 3.14 $5,000", "😀 emoji 👍🏽", "\x00 \ufffd \u200b", "İstanbul ẞ", "don't U.S.A. e-mail@example.com", *TEXTS,
    ]  # fmt: skip
    for text in texts:
        assert ours.encode(text).ids == theirs(text)["input_ids"], text
        assert ours.encode(text, add_special_tokens=False).ids == theirs(text, add_special_tokens=False)["input_ids"], text
    pair, expected = ours.encode("a pool", "its price"), theirs("a pool", "its price")
    assert (pair.ids, pair.type_ids) == (expected["input_ids"], expected["token_type_ids"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n".join([*SPECIAL, "a", "b", "a"]), r"vocab\.txt line 8: the word-piece 'a' is there twice"),
        ("\n".join(["[PAD]", "[UNK]", "a"]), r"no \[CLS\] among 3 word-pieces; is it the vocabulary of a BERT\?"),
        ("", r"no \[PAD\]"),
        (b"\xff\xfe", "no text in UTF-8"),
    ],
)
def test_a_vocabulary_that_is_none_is_refused(tmp_path, content, message):
    (tmp_path / "vocab.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        write_tokenizer(tmp_path / "vocab.txt", {}, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_ends_of_lines_are_no_word_pieces(tmp_path, end):
    lines = [*SPECIAL, "a", "\u2028", "b"]  # a separator of lines that is a word-piece
    (tmp_path / "vocab.txt").write_bytes(((end or "\n").join(lines) + end).encode())
    assert write_tokenizer(tmp_path / "vocab.txt", {}, tmp_path / "out.json") == 8
    assert Tokenizer.from_file(str(tmp_path / "out.json")).encode("a b", add_special_tokens=False).ids == [5, 7]
