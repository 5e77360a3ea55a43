"""Stores are written whole or not at all: plain for one number of terms, in layers for several."""

import json
import os

import numpy as np
import pytest

from epic.core.files import InputError, sha256_of
from epic.vectors import store_writer
from epic.vectors.store import Store
from epic.vectors.store_writer import StoreWriter
from epic.vectors.topk import take, top_terms
from tests.vectors import dense, write


def test_a_vocabulary_that_does_not_fit_16_bits_is_refused(tmp_path):
    with pytest.raises(InputError, match="16-bit"):
        StoreWriter(tmp_path / "a", 1, 70_000, "m")


def test_an_interrupted_writer_leaves_no_store(tmp_path):
    writer = StoreWriter(tmp_path / "a", 2, 10, "m")
    writer.add(["0"], np.array([[1, 2]], np.uint16), np.array([[1, 2]], np.float16))
    with pytest.raises(InputError, match="not a vector store"):
        Store(tmp_path / "a")


def test_a_number_makes_a_plain_store_and_a_list_makes_a_layer_of_each(tmp_path):
    write(tmp_path / "plain", dense(3, 90), 64)
    assert sorted(os.listdir(tmp_path / "plain")) == ["header.json", "sums.u64", "terms.u16", "weights.f16"]
    write(tmp_path / "layers", dense(3, 90), (8, 40, 64), ids=["x", "y", "z"])
    assert sorted(os.listdir(tmp_path / "layers")) == ["40", "64", "8", "header.json", "ids.bytes", "order.i64"]
    sizes = {path.relative_to(tmp_path / "layers").as_posix(): path.stat().st_size for path in (tmp_path / "layers").glob("*/*")}
    widths = {8: 8, 40: 40, 64: 24}
    assert sizes == {
        f"{layer}/{name}": size
        for layer, width in widths.items()
        for name, size in (("terms.u16", 6 * width), ("weights.f16", 6 * width), ("sums.u64", 24))
    }
    header = json.loads((tmp_path / "layers/header.json").read_text())
    assert header["format"] == "epic-vectors-4" and header["keep"] == 64
    assert header["sha256"] == {name: sha256_of(tmp_path / "layers" / name) for name in (*sizes, "ids.bytes", "order.i64")}


def test_no_layer_has_more_terms_than_the_vocabulary(tmp_path):
    writer = StoreWriter(tmp_path / "a", [100, 1000, 2000], 256, "m")
    assert writer.keep == 256


def test_rows_are_split_some_at_a_time_and_may_come_in_any_number(tmp_path, monkeypatch):
    vectors = dense(11, 90)
    write(tmp_path / "at once", vectors, [8, 40, 64])
    monkeypatch.setattr(store_writer, "ROWS_AT_A_TIME", 3)
    writer, terms = StoreWriter(tmp_path / "parts", [8, 40, 64], 90, "m"), top_terms(vectors, 64)
    for rows in (slice(0, 1), slice(1, 1), slice(1, 9), slice(9, 11)):
        writer.add([str(row) for row in range(11)[rows]], terms[rows], take(vectors, terms)[rows])
    assert writer.close() == 11
    for path in (tmp_path / "at once").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "parts" / path.relative_to(tmp_path / "at once")).read_bytes()


def test_other_files_of_the_folder_have_their_checksums_in_the_header(tmp_path):
    writer = StoreWriter(tmp_path / "a", [2], 10, "m")
    writer.add(["0"], np.array([[1, 2]], np.uint16), np.array([[1, 2]], np.float16))
    (tmp_path / "a/counts.json").write_text("{}")
    writer.close("counts.json")
    Store(tmp_path / "a").verify()
    (tmp_path / "a/counts.json").write_text("[]")
    with pytest.raises(InputError, match=r"a/counts\.json: the content has changed"):
        Store(tmp_path / "a").verify()
