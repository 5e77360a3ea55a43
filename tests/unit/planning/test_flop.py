"""Floating-point operations, against values worked out by hand and against torch's own counter."""

import pytest

from epic.planning import flop
from epic.planning.cards import BERT_BASE, MINILM


def test_a_passage_through_bert_base_by_hand():
    weights = 12 * (4 * 768 * 768 + 2 * 768 * 3072)  # 84.9 million
    assert weights == 84_934_656
    attention = 12 * (2 * 83 * 83 * 768 + 2 * 83 * 83 * 768)  # queries times keys, and weights times values
    assert flop.body(BERT_BASE, 83) == 2 * 83 * weights + attention == 14_353_108_992
    assert flop.expansion(BERT_BASE, 83) == 2 * 83 * 768 * 30_522 == 3_891_188_736
    assert flop.passage(BERT_BASE) == flop.body(BERT_BASE, 83) + flop.expansion(BERT_BASE, 83)


def test_a_model_takes_160_pflop_for_the_collection():
    assert flop.passage(BERT_BASE) * 8_841_823 == pytest.approx(161e15, rel=0.005)


def test_a_triple_is_two_passages_and_a_query_forward_and_twice_as_much_backward():
    assert flop.triple(BERT_BASE) == 3 * (2 * flop.body(BERT_BASE, 83) + flop.body(BERT_BASE, 10))
    assert flop.triple_of_the_authors(BERT_BASE) - flop.triple(BERT_BASE) == 3 * 2 * flop.expansion(BERT_BASE, 83)


def test_torch_counts_as_many_products_of_matrices_in_the_model_itself(mlm_encoder):
    """Of a tiny encoder with one text, where padding does not count."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from epic.model.epic import EpicModel
    from epic.vectors.phi import document_tensors

    model = EpicModel.from_encoder(mlm_encoder, "paper", seed=1).eval()
    shape = flop.Shape(2, 8, 16, model.vocabulary)
    model.precision = torch.bfloat16  # not by the compiled code, whose operations torch does not see
    with FlopCounterMode(display=False) as counter:
        document_tensors(model, [[7, 8, 9, 10, 11]], block=10)
    tokens = 5 + 2
    outside = 2 * 2 * 8 * shape.vocabulary  # [CLS] and [SEP] are not expanded
    uncounted = 2 * 4 * tokens**2 * 8  # attention: torch does not count the CPU's own
    assert counter.get_total_flops() == flop.passage(shape, tokens) - outside - uncounted


def test_the_smaller_encoder_takes_a_quarter():
    assert 0.15 < flop.passage(MINILM) / flop.passage(BERT_BASE) < 0.3
