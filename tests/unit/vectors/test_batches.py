"""Batches hold every text once, longest first, within a budget of word-pieces; a batch that does not fit is halved."""

import pytest
import torch

from epic.vectors.batches import Budget, by_tokens, computed


def test_batches_hold_every_text_once_within_the_budget():
    pieces = {str(i): [0] * length for i, length in enumerate([1, 30, 2, 14, 0, 14, 7])}
    batches = by_tokens(pieces, budget=40, window=14)
    assert sorted(name for batch in batches for name in batch) == sorted(pieces)
    assert len(batches) > 1
    sizes = {name: len(ids) + 2 * max(1, -(-len(ids) // 14)) for name, ids in pieces.items()}  # 30 word-pieces are three windows
    assert sizes["1"] == 36 and sizes["4"] == 2
    totals = [sum(sizes[name] for name in batch) for batch in batches]
    assert all(total <= 40 for total in totals) and max(totals) > 35  # and they are used


def test_the_longest_come_first_and_equal_ones_by_their_name():
    pieces = {"b": [0] * 3, "long": [0] * 20, "a": [0] * 3, "none": []}
    assert by_tokens(pieces, budget=12, window=14) == [["long"], ["a", "b", "none"]]  # 24, then 5 + 5 + 2


def test_a_budget_that_is_met_exactly_is_kept_and_one_less_is_not():
    pieces = {"a": [0] * 4, "b": [0] * 4}
    assert by_tokens(pieces, budget=12, window=14) == [["a", "b"]] and by_tokens(pieces, budget=11, window=14) == [["a"], ["b"]]


def test_texts_larger_than_the_budget_stand_alone_and_no_texts_are_no_batches():
    assert by_tokens({"a": [0] * 50, "b": [0] * 40, "c": [0]}, budget=10, window=14) == [["a"], ["b"], ["c"]]
    assert by_tokens({}, budget=10, window=14) == []


def texts(*lengths):
    return {f"d{place}": [1] * length for place, length in enumerate(lengths)}


def failing_above(limit, error, tried):
    """Return a function that fails for more word-pieces than fit."""

    def compute(batch):
        tried.append(batch)
        if sum(PIECES[name] for name in batch) > limit:
            raise error
        return len(batch)

    return compute


PIECES = {"d0": 9, "d1": 5, "d2": 5, "d3": 4, "d4": 1}


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate")]
)
def test_a_batch_that_does_not_fit_is_computed_in_smaller_ones_and_said(error, caplog):
    tried, budget = [], Budget(100)
    found = list(computed(texts(9, 5, 5, 4, 1), budget, 510, failing_above(10, error, tried)))
    assert sorted(name for batch, _ in found for name in batch) == sorted(PIECES)  # each once
    assert all(size == len(batch) for batch, size in found)
    assert len(tried[0]) == 5 and budget.tokens < 100 and "memory ran out with 5 passages at a time" in caplog.text
    again, learnt = [], budget.tokens
    assert list(computed(texts(9, 5, 5, 4, 1), budget, 510, failing_above(10, error, again)))
    assert max(map(len, again)) < 5 and budget.tokens <= learnt  # what was learnt is remembered


def test_a_single_text_that_does_not_fit_and_another_error_are_failures():
    with pytest.raises(MemoryError):
        list(computed(texts(9, 5), Budget(100), 510, failing_above(8, MemoryError(), [])))
    tried = []
    with pytest.raises(RuntimeError, match="an illegal"):
        list(computed(texts(9, 5), Budget(100), 510, failing_above(8, RuntimeError("an illegal instruction"), tried)))
    assert len(tried) == 1
