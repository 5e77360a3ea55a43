"""Gathered stores: a header that names shards; what it names is there, whole and the same, or it is refused with a remedy."""

import json
import os
import shutil

import pytest

from epic.core.files import InputError
from epic.vectors.prune import prune
from epic.vectors.pruned_scores import scores
from epic.vectors.store import Store
from epic.vectors.store_header import is_near
from epic.vectors.stored_rows import Lookup
from tests.vectors import KEEPS, dense, queries, shards, write

NAMES = ["a", "ä", "c/d", "11", "1"] + [f"n{row}" for row in range(12)]


@pytest.fixture
def results(tmp_path):
    """An experiment with shards and a store for each number of terms."""
    experiment = tmp_path / "results" / "mine"
    (experiment / "encode" / "paper").mkdir(parents=True)
    paths = shards(experiment / "encode" / "paper", dense(17, 90))
    for keep in KEEPS:
        prune(paths, keep, 17, experiment / "prune" / "paper" / str(keep))
    return experiment


def test_nothing_but_a_header_is_written_where_shards_have_the_layer(results):
    for keep in KEEPS:
        store = results / "prune" / "paper" / str(keep)
        assert [path.name for path in store.iterdir()] == ["header.json"]
        said = json.loads((store / "header.json").read_text())
        named = [(shard["path"], shard["start"], shard["documents"]) for shard in said["shards"]]
        starts = {1: (0, 5), 2: (5, 0), 3: (5, 1), 4: (6, 11), 5: (17, 0)}
        assert named == [(f"../../../encode/paper/{number}-of-5", *found) for number, found in starts.items()]
        Store(store).verify()


def test_a_results_folder_can_be_moved_copied_or_linked(results, tmp_path):
    ids, query = [str(row) for row in range(17)], queries(3, 90)[2]
    expected = scores(Lookup(Store(results / "prune/paper/64")), ids, query).tobytes()
    shutil.copytree(results, tmp_path / "copy" / "mine")
    shutil.move(results, tmp_path / "elsewhere")
    for moved in (tmp_path / "copy/mine", tmp_path / "elsewhere"):
        assert scores(Lookup(Store(moved / "prune/paper/64")), ids, query).tobytes() == expected
    shutil.move(tmp_path / "elsewhere/prune", tmp_path / "disk")  # a folder on another disk
    os.symlink(tmp_path / "disk", tmp_path / "elsewhere/prune")
    assert scores(Lookup(Store(tmp_path / "elsewhere/prune/paper/64")), ids, query).tobytes() == expected


def test_a_store_that_was_copied_without_its_shards_is_refused(results, tmp_path):
    shutil.copytree(results / "prune/paper/8", tmp_path / "a/b/c/8")
    with pytest.raises(InputError, match=r"a/b/c/8: its shard .*a/encode/paper/.-of-5 is not there; make it again .*or copy it"):
        Store(tmp_path / "a/b/c/8")


def test_a_shard_that_is_missing_cut_off_or_made_again_is_refused_with_its_remedy(results):
    shard, store = results / "encode/paper/4-of-5", results / "prune/paper/64"
    content = (shard / "64/weights.f16").read_bytes()
    os.truncate(shard / "64/weights.f16", 100)
    with pytest.raises(InputError, match=r"4-of-5/64/weights\.f16: 100 bytes, the header promises 528; make it .*4-of-5 --force"):
        Store(store)
    assert len(Store(results / "prune/paper/40")) == 17  # does not read that layer
    (shard / "64/weights.f16").write_bytes(content)
    shutil.move(shard, results / "aside")
    with pytest.raises(InputError, match=r"64: its shard .*mine/encode/paper/4-of-5 is not there; .*4-of-5 --force"):
        Store(store)
    write(shard, dense(11, 90, seed=5), KEEPS, start=6)
    with pytest.raises(InputError, match=r"4-of-5 is not the shard that .*prune/paper/64 was gathered from; .*64 --force"):
        Store(store)


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("../a", True), ("../../../encode/paper/2-of-5", True), ("/etc", False), ("../../../../x/encode/paper/1-of-2", False), ("a", False), ("", False),
        ("../../../encode/paper", False), ("../../../encode/../train/x", False), ("../../../train/paper/1-of-2", False), ("../../a/b", False), ("..", False),
        ("../..", False), ("../../..", False), (".", False), ("../a/../b", False), ("..//a", False), ("../a/", False), ("../a\0", False), ("./../a", False),
    ],
)  # fmt: skip
def test_shards_lie_in_the_experiment_s_encode_folder_or_beside_the_store(results, path, near):
    assert is_near(path) is near
    header = results / "prune/paper/8/header.json"
    said = json.loads(header.read_text())
    said["shards"][0]["path"] = path
    header.write_text(json.dumps(said))
    message = "is not the(re| shard)" if near else "lies outside of the experiment's encode folder"
    with pytest.raises(InputError, match=message):
        Store(header.parent)


@pytest.mark.parametrize(
    "change",
    [
        {"shards": []}, {"shards": None}, {"shards": [{}]}, {"shards": 5}, {"layers": []}, {"layers": {}}, {"layers": [{"keep": 8}]}, {"documents": 16},
        {"layers": [{"keep": 8, "extends": 0, "folder": "../8"}]}, {"layers": [{"keep": 8, "extends": 4, "folder": "8"}]}, {"keep": 9}, {"keep": 40},
        {"layers": [{"keep": 8.0, "extends": 0, "folder": "8"}]}, {"layers": [{"keep": 8, "extends": 0, "folder": ""}]}, {"vocabulary": 91},
        {"layers": [{"keep": 9, "extends": 0, "folder": "9"}, {"keep": 8, "extends": 0, "folder": "8"}]}, {"sha256": {"../x": "0"}}, {"sha256": {"x": "0"}},
    ],
)  # fmt: skip
def test_a_header_that_no_shards_have_is_refused(results, change):
    header = results / "prune/paper/8/header.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | change))
    with pytest.raises(InputError, match=r"prune/paper/8.*make it again"):
        Store(header.parent)


def test_a_shard_s_range_must_be_its_own(results):
    header = results / "prune/paper/8/header.json"
    said = json.loads(header.read_text())
    first, other = said["shards"][1], said["shards"][3]
    first["documents"], other["documents"] = first["documents"] - 1, other["documents"] + 1
    header.write_text(json.dumps(said))
    with pytest.raises(InputError, match=r"prune/paper/8/header\.json: the shards do not tile the collection"):
        Store(header.parent)


def test_ids_that_are_no_numbers_are_gathered_into_one_table(tmp_path):
    paths = shards(tmp_path, dense(17, 90), NAMES)
    prune(paths, 40, 17, tmp_path / "store")
    store = Store(tmp_path / "store")
    assert sorted(path.name for path in store.path.iterdir()) == ["header.json", "ids.bytes", "order.i64"]
    assert store.positions(NAMES[::-1]).tolist() == list(range(17))[::-1] and store.ids(slice(4, 7)) == NAMES[4:7]
    store.verify()
    (store.path / "order.i64").write_bytes(bytes(17 * 8))
    with pytest.raises(InputError, match=r"store/order\.i64: the content has changed; make it again .*store --force"):
        store.verify()


def test_an_id_that_two_shards_have_is_refused(tmp_path):
    paths = shards(tmp_path, dense(17, 90), [*NAMES[:-1], "a"])
    with pytest.raises(InputError, match="document id a is given twice"):
        prune(paths, 40, 17, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("name", ["ids.bytes", "order.i64"])
def test_a_damaged_table_of_ids_is_not_gathered(tmp_path, name):
    paths = shards(tmp_path, dense(17, 90), NAMES)
    file = paths[3] / name
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    with pytest.raises(InputError, match=f"4-of-5/{name}: the content has changed"):
        prune(paths, 40, 17, tmp_path / "store")


@pytest.mark.parametrize("keep", [7, 30, 41, 63])
def test_a_number_of_terms_that_is_no_layer_is_written_out_from_the_smallest_that_has_them(tmp_path, keep, monkeypatch):
    vectors, opened = dense(17, 90), []
    paths, blocks = shards(tmp_path, vectors), Store.blocks
    monkeypatch.setattr(Store, "blocks", lambda self, size: (opened.append(self.keep), blocks(self, size))[1])
    prune(paths, keep, 17, tmp_path / "store")
    assert set(opened) == {{7: 8, 30: 40, 41: 64, 63: 64}[keep]}
    write(tmp_path / "direct", vectors, keep)
    for path in (tmp_path / "direct").iterdir():
        assert path.read_bytes() == (tmp_path / "store" / path.name).read_bytes()


def test_plain_shards_of_the_earlier_format_are_gathered_without_a_copy_and_mixed_ones_with_one(tmp_path):
    vectors = dense(17, 90)
    (tmp_path / "plain").mkdir()
    old = shards(tmp_path / "plain", vectors, keep=64)
    assert json.loads((old[0] / "header.json").read_text())["format"] == "epic-vectors-3"
    (tmp_path / "mixed").mkdir()
    mixed = shards(tmp_path / "mixed", vectors)
    shutil.rmtree(mixed[3])
    shutil.copytree(old[3], mixed[3])
    expected = write(tmp_path / "direct", vectors, 64)
    for name, paths, copied in (("plain", old, False), ("mixed", mixed, True)):
        prune(paths, 64, 17, tmp_path / name / "store")
        store = Store(tmp_path / name / "store")
        assert (store.path / "terms.u16").exists() is copied
        assert store.terms.tobytes() == expected.terms.tobytes() and store.weights.tobytes() == expected.weights.tobytes()
        query = queries(3, 90)[2]
        asked = ["16", "0"]
        assert scores(Lookup(store), asked, query).tobytes() == scores(Lookup(expected), asked, query).tobytes()


def test_shards_of_another_place_and_stores_that_were_gathered_are_written_out(tmp_path):
    (tmp_path / "far/away").mkdir(parents=True)
    vectors = dense(17, 90)
    prune(shards(tmp_path / "far/away", vectors), 40, 17, tmp_path / "store")
    assert (tmp_path / "store/terms.u16").exists()
    (tmp_path / "near").mkdir()
    prune(shards(tmp_path / "near", vectors), 64, 17, tmp_path / "near/gathered")
    prune([tmp_path / "near/gathered"], 40, 17, tmp_path / "near/again")
    for path in (tmp_path / "store").iterdir():
        assert path.read_bytes() == (tmp_path / "near/again" / path.name).read_bytes()


def test_a_shard_by_itself_is_a_store_of_any_of_its_layers(tmp_path):
    vectors = dense(17, 90)
    write(tmp_path / "shard", vectors, KEEPS)
    assert Store(tmp_path / "shard").keep == 64
    for keep in KEEPS:
        plain = write(tmp_path / f"plain{keep}", vectors, keep)
        assert Store(tmp_path / "shard", keep).weights.tobytes() == plain.weights.tobytes()
    with pytest.raises(InputError, match=r"shard has no layer of so many terms; there are \[8, 40, 64\]"):
        Store(tmp_path / "shard", 9)
    content = (tmp_path / "shard/8/sums.u64").read_bytes()
    (tmp_path / "shard/8/sums.u64").write_bytes(bytes(len(content)))
    with pytest.raises(InputError, match=r"shard/8/sums\.u64: the content has changed"):
        Store(tmp_path / "shard").verify()
