"""Duet on a card: its members are trained, cut off and gone on, with a number of launches that does not grow with the passages."""

import pytest
import torch

from epic.rankers import duet
from epic.training.members import train_all
from epic.training.resume import State
from tests.device.card import ON
from tests.device.test_training import CutOffError, Interrupted
from tests.training import settings, without_seconds
from tests.words import duet_model, write_vocabulary


def learned(examples, validation, folder, kind=State, **changes):
    """Train two members on the card."""
    ranker = duet.create(folder.parent / "words", duet_model(members=2), [], ON)
    state = kind(folder, "key")
    course = train_all(duet, ranker, examples, validation, settings(**changes), "cross-entropy", 7, state)
    return {name: value.cpu() for name, value in ranker.state_dict().items()}, [without_seconds(one) for one in course.histories]


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_members_are_trained_and_go_on_after_they_were_cut_off(examples, validation, tmp_path, card, precision):
    write_vocabulary(tmp_path / "words")
    examples, changes = examples(), {"precision": precision, "patience": 9}
    whole, expected = learned(examples, validation, tmp_path / "whole", **changes)
    with pytest.raises(CutOffError):
        learned(examples, validation, tmp_path / "cut", Interrupted, **changes)
    weights, histories = learned(examples, validation, tmp_path / "cut", **changes)
    assert histories == expected and [len(history) for history in histories] == [3, 3]
    assert all(torch.equal(weights[name], whole[name]) for name in whole) and card.launches["_fused_adam_"]


def test_launches_do_not_grow_with_the_passages_and_a_batch_is_waited_for_once(tmp_path, card):
    ranker = duet.create(write_vocabulary(tmp_path / "words"), duet_model(members=2), [], ON)
    counted = []
    for count in (2, 60):
        card.forget()
        with torch.inference_mode():
            assert len(ranker.pairs(["price of pool"] * count, ["a pool", "x y z of"] * (count // 2)).tolist()) == count
        counted.append(sum(card.launches.values()))
        assert sum(card.syncs.values()) <= 1
    assert counted[0] == counted[1] < 150
