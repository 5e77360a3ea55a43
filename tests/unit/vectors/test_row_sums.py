"""Rows of a store are compared as they are read: every flipped bit is found, whichever the row."""

import numpy as np
import pytest

from epic.core.files import InputError
from epic.model.query_vector import QueryVector
from epic.vectors import stored_rows
from epic.vectors.pruned_scores import scores
from epic.vectors.row_sums import factors, row_sums
from epic.vectors.store import Store
from epic.vectors.store_writer import StoreWriter
from epic.vectors.stored_rows import Lookup


def by_hand(terms, weights, odd):
    """The same sum in Python's own whole numbers."""
    bits = weights.view(np.uint16)
    return [
        sum((1 + int(t) + (int(w) << 16)) * int(f) for t, w, f in zip(*row, odd, strict=True)) % 2**64
        for row in zip(terms, bits, strict=True)
    ]


def rows_of(count, keep, seed=1):
    random = np.random.default_rng(seed)
    terms = np.sort(np.stack([random.permutation(1000)[:keep] for _ in range(count)]).astype(np.uint16), axis=1)
    return terms, random.normal(size=(count, keep)).astype(np.float16)


@pytest.mark.parametrize(("count", "keep"), [(1, 1), (3, 7), (5, 64), (2, 1000)])
def test_a_sum_equals_that_of_whole_numbers(count, keep):
    terms, weights = rows_of(count, keep)
    odd = factors(keep)
    assert (odd % 2 == 1).all() and len(set(odd.tolist())) == keep
    assert row_sums(terms, weights, np.arange(count), odd).tolist() == by_hand(terms, weights, odd)


def test_a_row_of_zeros_has_a_sum_and_rows_in_another_order_have_others():
    odd = factors(4)
    nothing, one = np.zeros((1, 4), np.uint16), np.array([[1, 0, 0, 0]], np.uint16)
    empty = nothing.view(np.float16)
    found = [int(row_sums(terms, empty, np.array([0]), odd)[0]) for terms in (nothing, one, one[:, ::-1].copy())]
    assert 0 not in found and len(set(found)) == 3


@pytest.fixture
def store(tmp_path):
    terms, weights = rows_of(20, 8)
    writer = StoreWriter(tmp_path / "store", 8, 1000, "0" * 64)
    writer.add([str(i) for i in range(20)], terms, weights)
    writer.close()
    return tmp_path / "store"


QUERY = QueryVector(np.array([3, 500], dtype=np.uint16), np.array([1, 2], dtype=np.float32))


@pytest.mark.parametrize("name", ["terms.u16", "weights.f16", "sums.u64"])
@pytest.mark.parametrize("bit", [0, 7, 15])
def test_a_flipped_bit_in_a_row_is_refused_when_the_row_is_read_and_not_before(store, name, bit):
    place = 13 * (8 if name == "sums.u64" else 16) + bit // 8  # a byte of the row of document 13
    content = bytearray((store / name).read_bytes())
    content[place] ^= 1 << bit % 8
    (store / name).write_bytes(content)
    opened = Lookup(Store(store))
    assert np.isfinite(scores(opened, ["0", "12", "14", "19"], QUERY)).all()
    with pytest.raises(InputError, match="the vector of document 13 is not the one that was written; make it again"):
        scores(opened, ["0", "13"], QUERY)


differing = stored_rows._differing


def test_a_row_is_compared_once_and_its_scores_are_the_same(store, monkeypatch):
    opened, compared = Lookup(Store(store)), []
    monkeypatch.setattr(stored_rows, "_differing", lambda *given: (compared.append(given[5].tolist()), differing(*given))[1])
    first = scores(opened, ["5", "3"], QUERY)
    assert scores(opened, ["3", "5", "7"], QUERY)[:2].tolist() == first[::-1].tolist()
    assert compared == [[5, 3], [7]]
    assert scores(opened, [], QUERY).tolist() == []
