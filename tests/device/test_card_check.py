"""The check of a card, on a stand-in: everything it computes is computed there, and a wrong card is seen."""

import pytest

from epic.planning.card_check import pinned, try_out
from tests.conftest import TINY
from tests.device.card import ON


@pytest.fixture
def checkpoint(mlm_encoder, tmp_path):
    from epic.planning.card_check import write_checkpoint

    return write_checkpoint(f"path:{mlm_encoder}", "released", tmp_path)


@pytest.fixture
def passages():
    from epic.planning.card_check import passages_of

    return passages_of(TINY / "docs.tsv", 6)


def test_a_card_that_computes_as_the_cpu_does_agrees_in_float32(checkpoint, passages, card):
    found = list(try_out(checkpoint, ON, passages, pinned(), triples=4))
    assert [one.precision for one in found] == ["float32", "bfloat16"]
    assert [lists.beyond for lists in found[0].lists] == [0, 0] and all(rate > 0 for rate in found[0].rates.values())
    assert card.launches["topk"] and card.launches["segment_reduce"]


def test_a_card_that_computes_something_else_is_seen(checkpoint, passages, card, monkeypatch):
    from epic.vectors import phi

    right = phi.strongest_of_each
    monkeypatch.setattr(phi, "strongest_of_each", lambda weights, bounds: right(weights, bounds) * 1.01)
    found = next(try_out(checkpoint, ON, passages, pinned(), triples=4))
    assert found.lists[1].beyond == len(passages)
