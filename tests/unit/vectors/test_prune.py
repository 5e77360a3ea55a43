"""Pruned stores: gathered in order, cut exactly, and refused where shards are missing or damaged."""

import os

import numpy as np
import pytest

from epic.core.files import InputError
from epic.experiment.settings import EncodeSettings
from epic.vectors.encode import encode_shard
from epic.vectors.prune import cut, prune
from epic.vectors.store import Store
from tests.vectors import dense, spoken, write


def test_pruning_a_wide_store_equals_encoding_narrowly(tmp_path):
    vectors = dense(7, 40)
    write(tmp_path / "a", vectors[:3], keep=20)
    write(tmp_path / "b", vectors[3:], keep=20, start=3)
    for keep in (20, 10, 1):
        prune([tmp_path / "b", tmp_path / "a"], keep, 7, tmp_path / f"pruned{keep}")
        direct, pruned = write(tmp_path / f"direct{keep}", vectors, keep), Store(tmp_path / f"pruned{keep}")
        assert pruned.terms.tobytes() == direct.terms.tobytes() and pruned.weights.tobytes() == direct.weights.tobytes()
        if keep < 20:  # it is no layer, and written out
            for name in ("terms.u16", "weights.f16", "sums.u64", "header.json"):
                assert (pruned.path / name).read_bytes() == (direct.path / name).read_bytes()


def test_damage_to_any_file_of_a_shard_stops_its_gathering(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4, ids=["x", "y", "z"])
    for name in ("terms.u16", "weights.f16", "ids.bytes", "order.i64"):
        path = tmp_path / "a" / name
        content = path.read_bytes()
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        with pytest.raises(InputError, match=f"{name}: the content has changed"):
            prune([tmp_path / "a"], 2, 3, tmp_path / "out")
        path.write_bytes(content)
    assert not (tmp_path / "out").exists()


def test_empty_shards_may_stand_anywhere(tmp_path):
    for name, count, start in (("a", 0, 0), ("b", 2, 0), ("c", 0, 2), ("d", 1, 2), ("e", 0, 3)):
        write(tmp_path / name, dense(3, 10)[:count], keep=4, start=start)
    prune([tmp_path / name for name in "ebdca"], 2, 3, tmp_path / "out")
    assert len(Store(tmp_path / "out")) == 3


def test_many_shards_are_gathered_with_few_open_files(tmp_path):
    import resource

    for number in range(60):
        write(tmp_path / f"s{number}", dense(1, 10, seed=number), keep=4, start=number, ids=[f"d{number}"])
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        prune([tmp_path / f"s{number}" for number in range(60)], 2, 60, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert Store(tmp_path / "out").positions(["d59", "d0"]).tolist() == [59, 0]


def test_shards_must_tile_the_collection_and_come_from_one_model(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4)
    write(tmp_path / "c", dense(2, 10), keep=4, start=5)
    write(tmp_path / "b", dense(2, 10), keep=4, start=3, model="other")
    with pytest.raises(InputError, match="a shard is missing"):
        prune([tmp_path / "a", tmp_path / "c"], 2, 7, tmp_path / "out")
    with pytest.raises(InputError, match="different models"):
        prune([tmp_path / "a", tmp_path / "b"], 2, 5, tmp_path / "out")
    with pytest.raises(InputError, match="hold 3 vectors for 4 documents"):
        prune([tmp_path / "a"], 2, 4, tmp_path / "out")
    with pytest.raises(InputError, match=r"9 asked for; add it to encode\.keep"):
        prune([tmp_path / "a"], 9, 3, tmp_path / "out")


def test_cutting_to_the_same_width_changes_nothing():
    terms, weights = np.array([[1, 5, 9]], np.uint16), np.array([[3, 1, 2]], np.float16)
    assert cut(terms, weights, 3)[0].tolist() == [[1, 5, 9]]
    assert [part.tolist() for part in cut(terms, weights, 2)] == [[[1, 9]], [[3.0, 2.0]]]


def test_gathering_keeps_ids_that_are_no_numbers(tmp_path):
    vectors = dense(5, 10)
    write(tmp_path / "a", vectors[:3], keep=4, ids=["x", "ü", "0"])
    write(tmp_path / "b", vectors[3:], keep=4, start=3, ids=["3", "q"])
    prune([tmp_path / "a", tmp_path / "b"], 2, 5, tmp_path / "out")
    store = Store(tmp_path / "out")
    assert store.positions(["q", "x", "3", "0", "ü"]).tolist() == [4, 0, 3, 2, 1]
    store.verify()


@pytest.mark.parametrize("shard", ["1-of-1", "2-of-3"])
def test_pruning_a_shard_equals_encoding_it_at_that_r_byte_for_byte(model, documents, tmp_path, shard):
    model = model.float()
    wide = EncodeSettings(keep=[20], token_budget=64, vocabulary_block=5)
    encode_shard(model, "digest", spoken(model, documents, shard), wide, tmp_path / "wide")
    store = Store(tmp_path / "wide")
    for keep in (20, 10, 1):
        narrow = EncodeSettings(keep=[keep], token_budget=64, vocabulary_block=5)
        encode_shard(model, "digest", spoken(model, documents, shard), narrow, tmp_path / f"narrow{keep}")
        direct = Store(tmp_path / f"narrow{keep}")
        terms, weights = cut(store.terms, store.weights, keep)
        assert terms.tobytes() == direct.terms.tobytes() and weights.tobytes() == direct.weights.tobytes()
        if shard == "1-of-1":
            prune([tmp_path / "wide"], keep, len(documents), tmp_path / f"pruned{keep}")
            pruned = Store(tmp_path / f"pruned{keep}")
            assert pruned.terms.tobytes() == direct.terms.tobytes() and pruned.weights.tobytes() == direct.weights.tobytes()
