"""Generators: found in folders and in the cache of Hugging Face, pinned, and rewritten where their files are of an older kind."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from epic.core.files import InputError, sha256_of
from epic.first_stage.generator import generator_folder as folder_of
from epic.first_stage.generator import prepare_generator, refuse_other_models
from epic.first_stage.query_generator import Drawing, QueryGenerator, Tokens
from tests.generators import DRAWING, PIECES, as_published_before_2023, write_generator
from tests.seeded import run_in


def queries(folder):
    generator = QueryGenerator(folder, Drawing(**DRAWING), "cpu", 1, "float32")
    return generator.queries([Tokens(4, generator.tokens(["price of a pool"])[0])])


def test_a_folder_is_copied_when_its_weights_are_the_pinned_ones(generator_folder, tmp_path):
    prepare_generator(f"path:{generator_folder}", None, sha256_of(generator_folder / "model.safetensors"), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert queries(tmp_path / "out") == queries(generator_folder)
    with pytest.raises(InputError, match=r"model\.safetensors has sha256 .* pins 000"):
        prepare_generator(f"path:{generator_folder}", None, "0" * 64, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_weights_that_torch_pickled_are_rewritten_and_generate_the_same(generator_folder, tmp_path):
    old = as_published_before_2023(generator_folder, tmp_path / "old")
    prepare_generator(f"path:{old}", None, sha256_of(old / "pytorch_model.bin"), tmp_path / "out")
    assert queries(tmp_path / "out") == queries(generator_folder)
    assert load_file(tmp_path / "out" / "model.safetensors").keys() >= {"shared.weight", "lm_head.weight"}
    with pytest.raises(InputError, match=r"pytorch_model\.bin has sha256"):
        prepare_generator(f"path:{old}", None, "0" * 64, tmp_path / "other")


def test_a_tokenizer_of_sentencepiece_is_rewritten_and_splits_as_sentencepiece_does(generator_folder, tmp_path):
    import sentencepiece

    old = tmp_path / "old"
    shutil.copytree(generator_folder, old)
    (old / "tokenizer.json").unlink()
    (tmp_path / "text").write_text("the price of a pool\nwhat is a pool\nhow much is a boot\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(old / "spiece"), vocab_size=len(PIECES), pad_id=0, eos_id=1, unk_id=2,
        bos_id=-1, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    (old / "spiece.vocab").unlink()
    prepare_generator(f"path:{old}", None, None, tmp_path / "out")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(old / "spiece.model"))
    generator = QueryGenerator(tmp_path / "out", Drawing(**DRAWING | {"max_input": 64}), "cpu", 1, "float32")
    for text in ("the price of a pool", "  what   is\ta boot ", "pool"):
        assert generator.tokens([text]) == [[*theirs.encode(text), 1]]
    (old / "spiece.model").write_bytes(b"no model")
    with pytest.raises(InputError, match=r"spiece\.model cannot be read"):
        prepare_generator(f"path:{old}", None, None, tmp_path / "other")


@pytest.mark.parametrize("absent", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused_by_the_names_it_may_have(generator_folder, tmp_path, absent):
    shutil.copytree(generator_folder, tmp_path / "g")
    (tmp_path / "g" / absent).unlink()
    others = {"model.safetensors": " or pytorch_model.bin", "tokenizer.json": " or spiece.model"}
    with pytest.raises(InputError, match=f"has no {absent}{others.get(absent, '')};"):
        prepare_generator(f"path:{tmp_path / 'g'}", None, None, tmp_path / "out")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, r"it is BertForMaskedLM \(model_type bert\)"),
        ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, r"it is GPT2LMHeadModel \(model_type gpt2\)"),
        ({"model_type": "t5", "is_encoder_decoder": False, "architectures": ["T5EncoderModel"]}, "it is T5EncoderModel"),
        ({"model_type": "no-such"}, r"of no named architecture \(model_type no-such\)"),
        ({"model_type": ["t5"], "architectures": "T5"}, "of no named architecture"),
        ({}, r"of no named architecture \(model_type None\)"),
    ],
)
def test_a_model_that_is_no_encoder_and_decoder_is_refused_by_its_architecture(config, said):
    with pytest.raises(InputError, match=f"some/model: .*{said}.*encoder and decoder, such as T5ForConditionalGeneration"):
        refuse_other_models("some/model", config)


@pytest.mark.parametrize("kind", ["t5", "mt5", "bart"])
def test_models_with_encoder_and_decoder_are_taken(kind):
    refuse_other_models("some/model", {"model_type": kind})


def write_bart(generator_folder, folder, positions=32):
    """A tiny BART with the tokenizer of the tiny T5."""
    from transformers import BartConfig, BartForConditionalGeneration

    config = BartConfig(
        vocab_size=len(PIECES), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=positions, pad_token_id=0, bos_token_id=3, eos_token_id=1,
        decoder_start_token_id=1, forced_eos_token_id=1,
    )  # fmt: skip
    torch.manual_seed(1)
    BartForConditionalGeneration(config).save_pretrained(folder)
    shutil.copyfile(generator_folder / "tokenizer.json", folder / "tokenizer.json")


@pytest.mark.parametrize(
    ("positions", "lengths", "said"),
    [
        (12, {"max_input": 12, "max_output": 12}, None),  # to the last position
        (12, {"max_input": 13, "max_output": 6}, "it reads at most 12 tokens, the generator's max_input is 13; lower it"),
        (12, {"max_input": 12, "max_output": 13}, "it writes at most 12 tokens, the generator's max_output is 13; lower it"),
    ],
)
def test_a_bart_has_a_position_for_every_token_that_it_reads_and_writes(generator_folder, tmp_path, positions, lengths, said):
    write_bart(generator_folder, tmp_path / "bart", positions)
    drawing = Drawing(**DRAWING | {"top_k": 3} | lengths)
    if said:
        with pytest.raises(InputError, match=f"^{tmp_path}/bart: {said}"):
            QueryGenerator(tmp_path / "bart", drawing, "cpu", 1, "float32")
    else:
        generator = QueryGenerator(tmp_path / "bart", drawing, "cpu", 1, "float32")
        generator.model.generation_config.eos_token_id = None  # so that a query is as long as it may be
        (ids,) = generator.tokens(["price of a pool what is the price of a pool"])
        assert len(ids) == positions and len(generator.queries([Tokens(0, ids)])[0]) == DRAWING["samples"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"d_model": 32}, "transformers cannot load it"),
        ({"max_position_embeddings": 64}, "transformers cannot load it"),
        ({"encoder_layers": 2}, r"has no model\.encoder\.layers\.1\."),
        ({"decoder_attention_heads": 3}, "transformers cannot load it"),
    ],
)
def test_a_bart_of_other_weights_is_refused_in_one_line(generator_folder, tmp_path, config, said):
    write_bart(generator_folder, tmp_path / "bart")
    facts = json.loads((tmp_path / "bart" / "config.json").read_text())
    (tmp_path / "bart" / "config.json").write_text(json.dumps(facts | config))
    with pytest.raises(InputError, match=f"^{tmp_path}/bart.*{said}") as error:
        queries(tmp_path / "bart")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[]", "{", "null", ""])
def test_a_damaged_config_json_is_refused_by_its_name(generator_folder, tmp_path, text):
    shutil.copytree(generator_folder, tmp_path / "g")
    (tmp_path / "g" / "config.json").write_text(text)
    with pytest.raises(InputError, match=r"g/config\.json: "):
        prepare_generator(f"path:{tmp_path / 'g'}", None, None, tmp_path / "out")


def test_a_bart_generates_as_well(generator_folder, tmp_path):
    """Its own wishes for beams and forbidden repetitions do not count: the draw is top-k sampling."""
    write_bart(generator_folder, tmp_path / "bart")
    said = json.loads((tmp_path / "bart" / "generation_config.json").read_text())
    (tmp_path / "bart" / "generation_config.json").write_text(json.dumps(said | {"num_beams": 4, "no_repeat_ngram_size": 3}))
    prepare_generator(f"path:{tmp_path / 'bart'}", None, None, tmp_path / "out")
    (found,) = queries(tmp_path / "out")
    assert len(set(found)) == DRAWING["samples"]


def test_the_cache_of_hugging_face_serves_a_generator_or_its_place_is_named(generator_folder, tmp_path):
    old, revision = as_published_before_2023(generator_folder, tmp_path / "old"), "0123456789" * 4
    place = tmp_path / "hf" / "hub" / "models--some--t5" / "snapshots" / revision
    code = "from epic.first_stage.generator import prepare_generator\n"
    code += f"prepare_generator('some/t5', {revision!r}, None, {str(tmp_path / 'out')!r})"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    run = run_in(tmp_path, code, **offline)
    assert run.returncode and "InputError: some/t5: Hugging Face did not deliver it" in run.stderr and str(place) in run.stderr
    shutil.copytree(old, place)
    run = run_in(tmp_path, code, **offline)
    assert run.returncode == 0, run.stderr
    assert queries(tmp_path / "out") == queries(generator_folder)


def test_a_pickle_is_fetched_only_where_there_is_nothing_else(tmp_path, monkeypatch):
    asked = []

    def fetched(source, revision, allow_patterns):
        asked.append(set(allow_patterns))
        return tmp_path

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetched)
    folder_of("some/t5", "r")
    assert "pytorch_model.bin" not in asked[0] and "model.safetensors" in asked[0]
    assert asked[1:] == [{"pytorch_model.bin"}, {"spiece.model"}]
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).touch()
    folder_of("some/t5", "r")
    assert len(asked) == 4


def test_the_tiny_generator_is_the_same_each_time(generator_folder, tmp_path):
    again = write_generator(tmp_path / "again")
    assert sha256_of(again / "model.safetensors") == sha256_of(generator_folder / "model.safetensors")
