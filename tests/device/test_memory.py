"""Memory of the paper's model on a card of 11 GB, by the bytes that live tensors have; nothing is computed."""

from unittest.mock import patch

import pytest
import torch

from epic.model.bert import Bert
from epic.model.body import DEFAULTS
from epic.model.device import PRECISIONS
from epic.model.epic import EpicModel
from epic.model.mlm_head import head_of
from epic.model.tokens import tokenizer_of
from epic.vectors.device_topk import counts, top_terms
from epic.vectors.phi import document_tensors
from tests.device.card import ON, inserted

USABLE = 10_000_000_000  # of 11 GB: the driver, torch and what lies between blocks take the rest
BERT_BASE = DEFAULTS | {
    "model_type": "bert", "vocab_size": 30_522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512,
}  # fmt: skip


def fused(q, k, v, attn_mask=None, dropout_p=0.0):
    """Stand in for the attention kernels of a card, which keep no scores: as much memory as the result."""
    return q + k + v


@pytest.fixture(scope="module", params=["paper", "released"])
def bert_base(request, mlm_encoder):
    """EPIC in the paper's size, on the CPU, with weights of no meaning."""
    with patch("torch.nn.init.normal_"), patch("torch.nn.init.kaiming_uniform_"):  # seconds for nothing
        body = Bert(BERT_BASE)
    head = head_of({}, BERT_BASE, body.words.weight)
    return EpicModel(request.param, body, head, tokenizer_of(mlm_encoder)).eval()


@pytest.fixture
def small_card():
    """A card of 11 GB that computes nothing."""
    with inserted(hollow=True, memory=USABLE) as card, patch("epic.model.bert.scaled_dot_product_attention", fused):
        yield card


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("longest", [None, [510] * 8 + [78] * 792])  # as the released code's batches are, too
def test_a_batch_with_one_long_passage_among_eight_hundred_fits(bert_base, small_card, precision, longest):
    model = bert_base.to(ON)
    model.precision = PRECISIONS[precision]
    try:
        vectors = document_tensors(model, [[7] * 510, *([[7] * 78] * 799)], 2048, longest)
        assert vectors.shape == (800, 30_522)
        assert top_terms(vectors, 2000).shape == (800, 2000) and counts(vectors).shape == (65_536,)
        assert 3e9 < small_card.peak < USABLE
    finally:
        model.to("cpu").precision = torch.float32


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_training_with_one_passage_of_two_thousand_word_pieces_fits(bert_base, small_card, precision):
    model = bert_base.to(ON).train()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    try:
        with torch.autocast("card", PRECISIONS[precision], precision != "float32"):
            queries = model.query_tokens([[7] * 9] * 16)
            passages = model.passage_tokens([[7] * 2000, *([[7] * 78] * 31)])
            scores = model.similarities(queries, passages)  # (16, 2)
        scores.float().sum().backward()
        optimizer.step()
        assert 2e9 < small_card.peak < USABLE
    finally:
        optimizer.zero_grad(set_to_none=True)
        model.eval().to("cpu")


def test_a_batch_that_is_too_large_is_seen(bert_base, small_card):
    model = bert_base.to(ON)
    try:
        with pytest.raises(torch.OutOfMemoryError):
            document_tensors(model, [[7] * 510] * 800, 2048)
    finally:
        model.to("cpu")
