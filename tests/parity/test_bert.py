"""Our packed BERT body against transformers' BertModel."""

import pytest
import torch

from epic.bert import Bert, Packed, load_pretrained
from epic.files import InputError

pytestmark = pytest.mark.parity


@torch.inference_mode()
def test_the_body_equals_transformers(tiny_encoder):
    from transformers import BertModel

    theirs = BertModel.from_pretrained(tiny_encoder, add_pooling_layer=False).double().eval()
    ours = load_pretrained(tiny_encoder)[0].double().eval()
    windows = [[2, 5, 6, 7, 3], [2, 3], [2, *range(5, 19), 3]]
    packed = Packed.of(windows, "cpu")
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(window) for window in windows], batch_first=True)
    expected = theirs(input_ids=ids, attention_mask=packed.mask.long()).last_hidden_state[packed.mask]
    assert torch.allclose(ours(packed), expected, rtol=1e-10, atol=1e-12)


def test_the_names_and_matrix_of_a_masked_language_model_are_understood(tiny_encoder, tmp_path):
    from safetensors.torch import load_file, save_file

    body = load_file(tiny_encoder / "model.safetensors")
    old = {
        "bert." + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in body.items()
    }
    matrix = torch.randn_like(body["embeddings.word_embeddings.weight"])
    save_file(old | {"cls.predictions.decoder.weight": matrix}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((tiny_encoder / "config.json").read_bytes())
    loaded, found = load_pretrained(tmp_path)
    assert torch.equal(found, matrix)
    assert all(torch.equal(tensor, body[name]) for name, tensor in loaded.state_dict().items())


def test_an_encoder_of_another_kind_is_refused():
    with pytest.raises(InputError, match="roberta"):
        Bert({"model_type": "roberta", "hidden_act": "gelu"})
