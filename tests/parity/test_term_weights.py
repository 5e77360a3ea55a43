"""DeepCT's model against transformers' BertForTokenClassification, its loss against the masked mean, gradients against differences."""

import numpy as np
import pytest
import torch

from epic.first_stage.deepct_labels import Labels
from epic.model.term_weights import load_term_weights
from epic.training.regress import example, loss_of

pytestmark = pytest.mark.parity
TEXTS = ["price of a pool", "pools pools", "a b c d e f g h i j k l m n o p q r s", ""]


@pytest.fixture
def model(mlm_encoder):
    return load_term_weights(mlm_encoder, 16, seed=3).double().eval()


@pytest.fixture
def theirs(model, tmp_path):
    """The same weights in transformers, read from what we wrote."""
    from transformers import BertForTokenClassification

    model.save(tmp_path / "saved")
    found, said = BertForTokenClassification.from_pretrained(tmp_path / "saved", output_loading_info=True)
    assert not said["missing_keys"] and found.config.num_labels == 1
    return found.double().eval()


def padded(model, pieces):
    """A padded batch with its mask, and where word-pieces stand in it."""
    windows = [torch.tensor([model.start, *ids, model.end]) for ids in pieces]
    ids = torch.nn.utils.rnn.pad_sequence(windows, batch_first=True)  # (B, T)
    mask, inside = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, window in enumerate(windows):
        mask[row, : len(window)], inside[row, 1 : len(window) - 1] = 1, True
    return ids, mask, inside


@torch.inference_mode()
def test_weights_are_those_of_transformers(model, theirs):
    pieces = model.pieces(TEXTS)
    ids, mask, inside = padded(model, pieces)
    expected = theirs(input_ids=ids, attention_mask=mask).logits.squeeze(2)[inside]  # (N,)
    assert torch.allclose(model(pieces), expected, rtol=1e-10, atol=1e-12)
    single = model.float()(pieces)
    assert torch.allclose(single.double(), expected, atol=1e-6)


def labelled(model):
    recall = {"price": 1.0, "pool": 0.5, "pools": 0.25, "b": 1.0}
    return [example(model.tokens(ids), ids, Labels(str(place), 1, recall)) for place, ids in enumerate(model.pieces(TEXTS))]


def test_the_loss_is_the_mean_over_first_word_pieces_of_a_padded_batch(model, theirs):
    examples = labelled(model)
    ids, mask, _ = padded(model, [item.pieces for item in examples])
    targets, counted = np.zeros(ids.shape), np.zeros(ids.shape)
    for row, item in enumerate(examples):
        for place, recall in zip(item.firsts, item.recall, strict=True):
            targets[row, 1 + place], counted[row, 1 + place] = recall, 1
    logits = theirs(input_ids=ids, attention_mask=mask).logits.squeeze(2).detach().numpy()  # (B, T)
    expected = (counted * (logits - targets) ** 2).sum() / counted.sum()
    assert counted.sum() == 4 + 2 + 14 + 1 and float(loss_of(model, examples).detach()) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("classifier.weight", (0, 3)),
        ("classifier.bias", (0,)),
        ("bert.embeddings.word_embeddings.weight", (33, 2)),
        ("bert.encoder.layer.0.attention.self.query.weight", (1, 2)),
        ("bert.encoder.layer.1.output.dense.bias", (4,)),
    ],
)
def test_gradients_are_those_of_finite_differences(model, name, place):
    examples, step = labelled(model), 1e-6
    loss_of(model, examples).backward()
    weights = dict(model.named_parameters())[name]
    found = weights.grad[place].item()
    with torch.no_grad():
        values = []
        for sign in (1, -1):
            weights[place] += sign * step
            values.append(loss_of(model, examples).item())
            weights[place] -= sign * step
    assert found == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4, abs=1e-9)
