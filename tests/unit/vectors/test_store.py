"""Stores: exact, in order, and refused when damaged."""

import json

import pytest

from epic.core.files import InputError, sha256_of
from epic.vectors.prune import prune
from epic.vectors.store import Store, open_store
from epic.vectors.store_writer import StoreWriter
from tests.vectors import dense, write


def test_a_vocabulary_smaller_than_r_keeps_everything(tmp_path):
    store = write(tmp_path / "a", dense(2, 5), keep=100)
    assert store.keep == 5 and store.terms[0].tolist() == [0, 1, 2, 3, 4]


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


def test_a_store_of_another_model_is_refused(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(InputError, match="was made by the model m"):
        open_store(tmp_path / "a", tmp_path / "checkpoint")
    write(tmp_path / "b", dense(3, 10), keep=4, model="unknown")
    with pytest.raises(InputError, match="repeat epic import-vectors with --checkpoint"):
        open_store(tmp_path / "b", tmp_path / "checkpoint")


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


@pytest.mark.parametrize(
    "change",
    [
        {"documents": 3.0}, {"documents": "3"}, {"documents": True}, {"documents": -3}, {"documents": None}, {"keep": 0}, {"keep": 11}, {"keep": [4]},
        {"vocabulary": 0}, {"vocabulary": None}, {"start": -1}, {"start": 1e3}, {"ids_width": 0}, {"ids_width": "1"}, {"model": 5}, {"sha256": []},
        {"sha256": {"../terms.u16": "x"}}, {"sha256": {"terms.u16": 5}}, {"documents": 10**18},
    ],
)  # fmt: skip
def test_a_header_of_other_kinds_is_refused_before_any_row_is_read(tmp_path, change):
    write(tmp_path / "a", dense(3, 10), keep=4)
    header = json.loads((tmp_path / "a" / "header.json").read_text())
    (tmp_path / "a" / "header.json").write_text(json.dumps(header | change))
    with pytest.raises(InputError, match=r"a/header\.json: .*make it again"):
        Store(tmp_path / "a")


def test_terms_beyond_the_vocabulary_of_the_header_are_refused_when_rows_are_gathered(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=10)
    header = json.loads((tmp_path / "a" / "header.json").read_text())
    assert len(list(Store(tmp_path / "a").blocks(2))) == 2
    (tmp_path / "a" / "sums.u64").write_bytes(bytes(48))
    sums = header["sha256"] | {"sums.u64": sha256_of(tmp_path / "a" / "sums.u64")}
    (tmp_path / "a" / "header.json").write_text(json.dumps(header | {"vocabulary": 9, "keep": 5, "documents": 6, "sha256": sums}))
    with pytest.raises(InputError, match="a term beyond the vocabulary of 9"):
        list(Store(tmp_path / "a").blocks(2))


def test_a_header_that_names_a_file_that_is_not_there_is_refused(tmp_path):
    write(tmp_path / "a", dense(3, 10), keep=4)
    header = json.loads((tmp_path / "a" / "header.json").read_text())
    header["sha256"]["lengths.json"] = "0" * 64
    (tmp_path / "a" / "header.json").write_text(json.dumps(header))
    with pytest.raises(InputError, match=r"header\.json: there is no 'lengths\.json'"):
        Store(tmp_path / "a")
