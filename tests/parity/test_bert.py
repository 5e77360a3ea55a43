"""Our packed BERT body against transformers' BertModel."""

import pytest
import torch

from epic.core.files import InputError
from epic.model.bert import Packed
from epic.model.body import load_pretrained

pytestmark = pytest.mark.parity


@torch.inference_mode()
@pytest.mark.parametrize("segment", [0, 1])
def test_the_body_equals_transformers(tiny_encoder, segment):
    from transformers import BertModel

    theirs = BertModel.from_pretrained(tiny_encoder, add_pooling_layer=False).double().eval()
    ours = load_pretrained(tiny_encoder)[0].double().eval()
    windows = [[2, 5, 6, 7, 3], [2, 3], [2, *range(5, 19), 3]]
    packed = Packed.of(windows, "cpu")
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(window) for window in windows], batch_first=True)
    segments, mask = torch.full_like(ids, segment), packed.padding.mask(ids)
    expected = theirs(input_ids=ids, attention_mask=mask.long(), token_type_ids=segments).last_hidden_state[mask]
    assert torch.allclose(ours(packed, segment), expected, rtol=1e-10, atol=1e-12)


@torch.inference_mode()
def test_windows_one_by_one_a_padded_batch_and_rows_in_pieces_are_the_same(tiny_encoder, monkeypatch):
    """On a GPU windows are padded and rows are not cut into pieces; here the three ways are compared on the CPU."""
    from epic.model import bert

    body = load_pretrained(tiny_encoder)[0].double().eval()
    packed = Packed.of([[2, 5, 6, 7, 3], [2, 3], [2, *range(5, 19), 3]], "cpu")
    expected = body(packed, 0)
    monkeypatch.setattr(bert, "ROWS_AT_A_TIME", 4)
    assert torch.allclose(body(packed, 0), expected, rtol=1e-12)
    monkeypatch.setattr(bert.Attention, "_by_window", bert.Attention._padded)
    assert torch.allclose(body(packed, 0), expected, rtol=1e-12)


def test_old_names_and_the_whole_head_of_a_masked_language_model_are_understood(mlm_encoder, tiny_encoder, tmp_path):
    from safetensors.torch import load_file, save_file

    weights = load_file(mlm_encoder / "model.safetensors")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in weights.items()
    }
    matrix = torch.randn_like(weights["bert.embeddings.word_embeddings.weight"])
    save_file(old | {"cls.predictions.decoder.weight": matrix}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((mlm_encoder / "config.json").read_bytes())
    loaded, head = load_pretrained(tmp_path)
    assert head.learned and torch.equal(head.decoder, matrix)
    assert torch.equal(head.norm, weights["cls.predictions.transform.LayerNorm.weight"])
    assert torch.equal(head.bias, weights["cls.predictions.bias"])
    assert all(torch.equal(tensor, weights[f"bert.{name}"]) for name, tensor in loaded.state_dict().items())


def test_an_encoder_that_lacks_weights_is_refused_by_name(tiny_encoder, tmp_path):
    from safetensors.torch import load_file, save_file

    weights = load_file(tiny_encoder / "model.safetensors")
    weights.pop("encoder.layer.1.output.dense.bias")
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((tiny_encoder / "config.json").read_bytes())
    with pytest.raises(InputError, match=r"has no encoder\.layer\.1\.output\.dense\.bias \(1 weights are missing\)"):
        load_pretrained(tmp_path)
