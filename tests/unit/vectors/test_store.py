"""Selection, stores and pruning: exact, in order, and refused when damaged."""

import json
import os

import numpy as np
import pytest

from epic.files import InputError
from epic.lookup import scores
from epic.prune import cut, prune
from epic.select import take, top_terms
from epic.store import Store, StoreWriter, open_store
from epic.vectors import QueryVector, read_vectors, write_vectors


def by_definition(weights, keep):
    """The keep largest by (value descending, id ascending), ids ascending."""
    return sorted(sorted(range(len(weights)), key=lambda term: (-weights[term], term))[:keep])


@pytest.mark.parametrize("keep", [1, 2, 3, 5, 6, 9])
def test_the_largest_are_kept_and_ties_go_to_the_lower_id(keep):
    draw = np.random.default_rng(keep)
    for _ in range(50):
        weights = draw.integers(-2, 3, size=6).astype(np.float16) / 2
        assert top_terms(weights[None], keep)[0].tolist() == by_definition(weights.tolist(), keep)


def dense(documents, vocabulary, seed=0):
    return np.random.default_rng(seed).normal(size=(documents, vocabulary)).astype(np.float16)


def write(path, vectors, keep, start=0, ids=None, model="m"):
    writer = StoreWriter(path, keep, vectors.shape[1], model, start)
    terms = top_terms(vectors, writer.keep)
    writer.add(ids or [str(start + row) for row in range(len(vectors))], terms, take(vectors, terms))
    writer.close()
    return Store(path)


def test_pruning_a_wide_store_equals_encoding_narrowly(tmp_path):
    vectors = dense(7, 40)
    write(tmp_path / "a", vectors[:3], keep=20)
    write(tmp_path / "b", vectors[3:], keep=20, start=3)
    for keep in (20, 10, 1):
        prune([tmp_path / "b", tmp_path / "a"], keep, 7, tmp_path / f"pruned{keep}")
        write(tmp_path / f"direct{keep}", vectors, keep)
        for name in ("terms.u16", "weights.f16", "header.json"):
            assert (tmp_path / f"pruned{keep}" / name).read_bytes() == (tmp_path / f"direct{keep}" / name).read_bytes()


def test_a_vocabulary_smaller_than_r_keeps_everything(tmp_path):
    store = write(tmp_path / "a", dense(2, 5), keep=100)
    assert store.keep == 5 and store.terms[0].tolist() == [0, 1, 2, 3, 4]


def test_scores_equal_the_dense_product_for_any_order_of_candidates(tmp_path):
    vectors = dense(6, 30)
    store = write(tmp_path / "a", vectors, keep=30)
    query = QueryVector(np.array([0, 7, 29], dtype=np.uint16), np.array([0.5, 1.5, 2.0], dtype=np.float32))
    found = scores(store, ["4", "0", "5"], query)
    assert found == pytest.approx(vectors[[4, 0, 5]][:, [0, 7, 29]].astype(np.float32) @ query.weights, rel=1e-6)


def test_a_pruned_term_counts_nothing(tmp_path):
    vectors = np.array([[0.5, 0.1, 0.4]], dtype=np.float16)
    store = write(tmp_path / "a", vectors, keep=2)
    query = QueryVector(np.array([0, 1, 2], dtype=np.uint16), np.ones(3, dtype=np.float32))
    assert scores(store, ["0"], query)[0] == pytest.approx(float(np.float16(0.5)) + float(np.float16(0.4)))
    assert scores(store, ["0"], QueryVector(np.array([], dtype=np.uint16), np.array([], dtype=np.float32)))[0] == 0
    assert scores(store, [], query).shape == (0,)


def test_ids_that_are_not_numbers_are_stored(tmp_path):
    store = write(tmp_path / "a", dense(3, 10), keep=4, ids=["x", "ü", "0"])
    assert store.positions(["0", "x"]).tolist() == [2, 0]
    with pytest.raises(InputError, match="no vector for document 'y'"):
        store.positions(["y"])


@pytest.mark.parametrize("doc_id", ["3", "-1", "abc"])
def test_a_document_without_a_vector_is_an_error(tmp_path, doc_id):
    with pytest.raises(InputError, match="no vector for document"):
        write(tmp_path / "a", dense(3, 10), keep=4).positions(["0", doc_id])


def test_an_empty_shard_is_a_store(tmp_path):
    writer = StoreWriter(tmp_path / "a", 4, 10, "m")
    assert writer.close() == 0
    assert len(Store(tmp_path / "a")) == 0


def test_a_vocabulary_that_does_not_fit_16_bits_is_refused(tmp_path):
    with pytest.raises(InputError, match="16-bit"):
        StoreWriter(tmp_path / "a", 1, 70_000, "m")


def test_damage_is_noticed(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4)
    weights = tmp_path / "a" / "weights.f16"
    content = weights.read_bytes()
    weights.write_bytes(content[:-2])
    with pytest.raises(InputError, match=r"weights\.f16: 22 bytes, the header promises 24"):
        Store(tmp_path / "a")
    weights.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(InputError, match="the content has changed"):
        prune([tmp_path / "a"], 2, 3, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "a" / "header.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(InputError, match="format 'other'"):
        Store(tmp_path / "a")
    with pytest.raises(InputError, match="not a vector store"):
        Store(tmp_path)


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
    with pytest.raises(InputError, match=r"raise encode\.max_terms"):
        prune([tmp_path / "a"], 9, 3, tmp_path / "out")


def test_a_store_of_another_model_is_refused(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(InputError, match="was made by the model m"):
        open_store(tmp_path / "a", tmp_path / "checkpoint")
    write(tmp_path / "b", dense(3, 10), keep=4, model="unknown")
    with pytest.raises(InputError, match="repeat epic import-vectors with --checkpoint"):
        open_store(tmp_path / "b", tmp_path / "checkpoint")


def test_cutting_to_the_same_width_changes_nothing():
    terms, weights = np.array([[1, 5, 9]], np.uint16), np.array([[3, 1, 2]], np.float16)
    assert cut(terms, weights, 3)[0].tolist() == [[1, 5, 9]]
    assert [part.tolist() for part in cut(terms, weights, 2)] == [[[1, 9]], [[3.0, 2.0]]]


def test_query_vectors_survive_the_file_to_the_last_bit(tmp_path):
    weights = np.array([0.1, 1 / 3, 2e-38], dtype=np.float32)
    vectors = {"q": QueryVector(np.array([1, 2, 60_000], dtype=np.uint16), weights), "none": QueryVector(*2 * [np.array([])])}
    write_vectors(vectors, tmp_path / "v.jsonl")
    found = read_vectors(tmp_path / "v.jsonl")
    assert found["q"].weights.tobytes() == weights.tobytes() and found["q"].terms.tolist() == [1, 2, 60_000]
    assert len(found["none"].terms) == 0
    (tmp_path / "v.jsonl").write_text('{"id": "q"\n')
    with pytest.raises(InputError, match=r"v\.jsonl line 1"):
        read_vectors(tmp_path / "v.jsonl")


def test_both_zeros_are_one_value_and_large_rows_are_selected_as_defined():
    assert top_terms(np.array([[-0.0, 0.0, -0.0, -1.0]], dtype=np.float16), 2).tolist() == [[0, 1]]
    bits = np.random.default_rng(3).integers(0, 65_536, size=(20, 3000)).astype(np.uint16)
    rows = np.where(bits & 0x7C00 == 0x7C00, 0, bits).astype(np.uint16).view(np.float16)  # every finite value, negative ones too
    for keep in (1, 7, 1500, 2999, 3000, 5000):
        for row, found in zip(rows, top_terms(rows, keep), strict=True):
            assert found.tolist() == by_definition(row.tolist(), keep)
        assert (take(rows, top_terms(rows, keep)) == np.take_along_axis(rows, top_terms(rows, keep).astype(int), axis=1)).all()


def test_a_store_that_lacks_something_is_refused_by_name(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4, ids=["x", "y", "z"])
    header = json.loads((tmp_path / "a" / "header.json").read_text())
    for broken, message in (
        ({key: value for key, value in header.items() if key != "model"}, r"header\.json has no model"),
        (header | {"vocabulary": 70_000}, "70000 vocabulary entries do not fit 16-bit"),
        (header | {"sha256": {"terms.u16": "x"}}, r"has no checksum of weights\.f16"),
        (header | {"documents": 4}, r"terms\.u16: 24 bytes, the header promises 32"),
        (["a list"], "format None"),
    ):
        (tmp_path / "a" / "header.json").write_text(json.dumps(broken))
        with pytest.raises(InputError, match=message):
            Store(tmp_path / "a")
    (tmp_path / "a" / "header.json").write_text(json.dumps(header))
    (tmp_path / "a" / "order.i64").unlink()
    with pytest.raises(InputError, match=r"order\.i64: 0 bytes, the header promises 24"):
        Store(tmp_path / "a")


def test_gathering_keeps_ids_that_are_no_numbers(tmp_path):
    vectors = dense(5, 10)
    write(tmp_path / "a", vectors[:3], keep=4, ids=["x", "ü", "0"])
    write(tmp_path / "b", vectors[3:], keep=4, start=3, ids=["3", "q"])
    prune([tmp_path / "a", tmp_path / "b"], 2, 5, tmp_path / "out")
    store = Store(tmp_path / "out")
    assert store.positions(["q", "x", "3", "0", "ü"]).tolist() == [4, 0, 3, 2, 1]
    store.verify()


def test_a_flipped_bit_in_any_file_is_noticed_by_verify(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4, ids=["x", "y", "z"])
    for name in ("terms.u16", "weights.f16", "ids.bytes", "order.i64"):
        path = tmp_path / "a" / name
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(InputError, match=f"{name}: the content has changed"):
            Store(tmp_path / "a").verify()
        path.write_bytes(content)
    Store(tmp_path / "a").verify()


def test_an_interrupted_writer_leaves_no_store(tmp_path):
    writer = StoreWriter(tmp_path / "a", 2, 10, "m")
    writer.add(["0"], np.array([[1, 2]], np.uint16), np.array([[1, 2]], np.float16))
    with pytest.raises(InputError, match="half-written"):
        Store(tmp_path / "a")
