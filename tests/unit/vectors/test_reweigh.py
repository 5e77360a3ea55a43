"""Passages reweighted shard by shard: the same text however many shards there are, in DeepCT's published form."""

import json

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.first_stage.deepct import weighted_texts
from epic.first_stage.deepct_counts import Form, rewritten
from epic.model.term_weights import load_term_weights
from epic.vectors import reweigh as module
from epic.vectors.batches import Budget
from epic.vectors.reweigh import blocks_of, reweigh, weights_of

FORM = Form(100, "linear", False)
TEXTS = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p", "café cost", "pools pools", "z y x", "of", "pool"] * 3


@pytest.fixture
def model(tiny_encoder):
    """Weights that are large enough to count, some of them negative."""
    model = load_term_weights(tiny_encoder, 16, seed=3).eval()
    with torch.no_grad():
        model.classifier.weight *= 10
    return model


def texts_of(folder, shards):
    lines = [line for place in range(1, shards + 1) for line in (folder / f"{place}-of-{shards}/docs00.json").open()]
    return [(record["id"], record["contents"]) for record in map(json.loads, lines)]


def written(model, documents, folder, shards, form=FORM):
    for place in range(1, shards + 1):
        name = f"{place}-of-{shards}"
        reweigh(model, documents, name, form, 512, "float32", folder / name)
    return texts_of(folder, shards)


@pytest.mark.parametrize("block", [1, 4, 128])
def test_the_text_does_not_depend_on_the_number_of_shards(model, collection_of, tmp_path, monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK", block)
    documents = collection_of(*TEXTS)
    whole = written(model, documents, tmp_path, 1)
    assert written(model, documents, tmp_path, 3) == written(model, documents, tmp_path, 40) == whole
    folders = [tmp_path / f"{place}-of-3" for place in (1, 2, 3)]
    assert list(weighted_texts(documents, *folders)) == whole


def test_every_passage_has_the_text_that_its_own_weights_give(model, collection_of, tmp_path):
    documents, expected = collection_of(*TEXTS), []
    for place, text in enumerate(TEXTS):
        (ids,) = model.pieces([text])
        with torch.inference_mode():
            found = rewritten(model.tokens(ids), model([ids]).tolist(), FORM)
        expected += [(str(place), found)] if found else []
    assert 0 < len(expected) < len(TEXTS)  # passages of no word are left out
    assert [doc_id for doc_id, _ in written(model, documents, tmp_path, 1)] == [doc_id for doc_id, _ in expected]
    same = [left == right for left, right in zip(texts_of(tmp_path, 1), expected, strict=True)]
    assert np.mean(same) > 0.9  # batches round differently in the last place


def test_all_passages_stay_if_every_word_does(model, collection_of, tmp_path):
    found = written(model, collection_of(*TEXTS), tmp_path, 2, Form(100, "linear", True))
    assert [doc_id for doc_id, _ in found] == [str(place) for place in range(len(TEXTS))]
    assert dict(found)["1"].split()[0] == "[UNK]"  # an empty passage is read as a dot, which this encoder does not know


def test_blocks_tile_the_collection():
    for passages, shards in ((336, 2), (336, 3), (1, 3), (128, 1), (1000, 7)):
        blocks = [block for place in range(1, shards + 1) for block in blocks_of(passages, f"{place}-of-{shards}")]
        assert [row for block in blocks for row in block] == list(range(passages))
        assert all(block.start % 128 == 0 and len(block) <= 128 for block in blocks)
    with pytest.raises(InputError, match="shard 4 is not within 1..3"):
        blocks_of(10, "4-of-3")


def test_an_empty_shard_is_a_folder_with_an_empty_file(model, collection_of, tmp_path):
    assert reweigh(model, collection_of("a b"), "1-of-2", FORM, 512, "float32", tmp_path / "1-of-2") == 0
    assert (tmp_path / "1-of-2" / "docs00.json").read_text() == ""


def test_batches_within_the_budget_have_the_weights_of_all(model):
    pieces = dict(zip("abcd", model.pieces(["a b c", "", "price of a pool", "x y"]), strict=True))
    small, large = (dict(weights_of(model, pieces, Budget(tokens))) for tokens in (6, 512))
    assert all(np.allclose(small[name], large[name], atol=1e-6) and len(small[name]) == len(pieces[name]) for name in pieces)


def test_a_weight_that_is_not_finite_is_refused_with_its_passage(model, collection_of, tmp_path):
    model.classifier.bias.data.fill_(torch.nan)
    with pytest.raises(InputError, match="passage 0: a weight is not finite; set compute.precision to float32"):
        reweigh(model, collection_of("a"), "1-of-1", FORM, 512, "float32", tmp_path / "out")
    assert not (tmp_path / "out").exists()
