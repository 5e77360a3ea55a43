"""Texts word by word on a card: the weights of the CPU, in every precision."""

import json

import pytest

from epic.analysis.interpret import write_interpretation
from epic.model.epic import load_model
from tests.device.test_query import CPU, NEAR

TEXTS = {"queries": ["price of a pool", "x x"], "passages": ["0", "3", "1"]}  # the last one is empty


def test_interpretation_is_that_of_the_cpu(checkpoint, documents, compute, card, tmp_path):
    found = []
    for place in (CPU, compute):
        card.forget()
        write_interpretation(load_model(checkpoint, place), documents, TEXTS, {}, (None, None), 5, tmp_path / "texts.json")
        found.append(json.loads((tmp_path / "texts.json").read_text()))
    assert card.launches["segment_reduce"] and card.launches["addmm"]
    near = max(2e-3, 2 * NEAR[compute["precision"]])
    for kind in ("queries", "passages"):
        for expected, ours in zip(*(texts[kind] for texts in found), strict=True):
            assert ours["pieces"] == expected["pieces"]
            assert ours["weights"] == pytest.approx(expected["weights"], rel=near, abs=near)
