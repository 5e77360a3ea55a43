"""Rows are looked up wherever they lie: in layers of shards as in one plain store, score by score and bit by bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epic.core import seals
from epic.core.files import InputError
from epic.model.query_vector import QueryVector
from epic.vectors import stored_rows
from epic.vectors.at_query_time import pruned_loader
from epic.vectors.prune import prune
from epic.vectors.pruned_scores import scores
from epic.vectors.store import Store
from epic.vectors.stored_rows import Lookup, Rows
from tests.vectors import SIZES, dense, queries, shards, write


@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("keep", [8, 40, 64, 30])
def test_scores_are_those_of_a_plain_store_to_the_last_bit(tmp_path, keep, named):
    vectors = np.round(dense(17, 90), 1)  # with ties
    ids = [f"doc-{7 * row % 17}ü" for row in range(17)] if named else [str(row) for row in range(17)]
    (tmp_path / "layered").mkdir()
    prune(shards(tmp_path / "layered", vectors, ids if named else None), keep, 17, tmp_path / "layered" / "store")
    found = Store(tmp_path / "layered" / "store")
    assert (found.path / "terms.u16").exists() is (keep == 30)  # the only one that is no layer
    plain = write(tmp_path / "plain", vectors, keep, ids=ids)
    assert found.terms.tobytes() == plain.terms.tobytes() and found.weights.tobytes() == plain.weights.tobytes()
    lookups, draw = (Lookup(found), Lookup(plain)), np.random.default_rng(0)
    for query in queries(30, 90):
        asked = [ids[row] for row in draw.integers(0, 17, size=9)]
        left, right = (scores(lookup, asked, query) for lookup in lookups)
        assert left.tobytes() == right.tobytes()
        loaded = [pruned_loader(store)(asked).score(query).tobytes() for store in (found, plain)]
        assert loaded == [left.tobytes()] * 2


def test_a_score_is_the_sum_over_the_query_s_terms_in_their_order(tmp_path):
    vectors = dense(17, 90)
    prune(shards(tmp_path, vectors), 64, 17, tmp_path / "store")
    store = Store(tmp_path / "store")
    for query in queries(20, 90):
        for row, found in enumerate(scores(Lookup(store), [str(row) for row in range(17)], query)):
            total = np.float32(0)
            for term, weight in zip(query.terms, query.weights, strict=True):
                if term in store.terms[row]:
                    total += weight * np.float32(vectors[row, term])
            assert total.tobytes() == found.tobytes()


def test_threads_share_a_lookup(tmp_path):
    prune(shards(tmp_path, dense(17, 90)), 64, 17, tmp_path / "store")
    lookup, asked = Lookup(Store(tmp_path / "store")), queries(200, 90)
    ids = [str(row) for row in range(17)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: scores(lookup, ids, query).tobytes(), asked))
    assert found == [scores(Lookup(Store(tmp_path / "store")), ids, query).tobytes() for query in asked]


@pytest.mark.parametrize("layer", ["40", "64"])
@pytest.mark.parametrize("name", ["terms.u16", "weights.f16", "sums.u64"])
def test_a_damaged_row_is_refused_with_its_document_and_its_shard_is_marked(tmp_path, layer, name):
    paths = shards(tmp_path, dense(17, 90))
    seals.seal(paths, "encode")
    prune(paths, 64, 17, tmp_path / "store")
    file = paths[3] / layer / name
    content = bytearray(file.read_bytes())
    content[-1] ^= 4  # of the last of eleven rows, document 16
    file.write_bytes(content)
    lookup, query = Lookup(Store(tmp_path / "store")), queries(2, 90)[1]
    assert np.isfinite(scores(lookup, ["0", "5", "15"], query)).all()
    with pytest.raises(InputError, match=rf"4-of-5/{layer}: the vector of document 16 is not the one .*snakemake .*/4-of-5 "):
        scores(lookup, ["3", "16"], query)
    assert seals.was_refused(paths[3]) and not any(map(seals.was_refused, paths[:3]))
    if layer == "64":  # fewer terms are read from another layer
        prune(paths, 40, 17, tmp_path / "narrow")
        assert np.isfinite(scores(Lookup(Store(tmp_path / "narrow")), ["16"], query)).all()


def test_candidates_are_announced_in_all_layers_of_their_shards_and_in_no_others(tmp_path, monkeypatch):
    prune(shards(tmp_path, dense(17, 90)), 64, 17, tmp_path / "store")
    lookup, announced = Lookup(Store(tmp_path / "store")), []
    monkeypatch.setattr(stored_rows.Mapped, "holds", lambda self, row: False)
    monkeypatch.setattr(stored_rows.Mapped, "announce", lambda self, rows: announced.append((self.row_bytes, rows.tolist())))
    scores(lookup, ["16", "0", "6"], queries(1, 90)[0])
    assert announced == [  # 40 terms, 24 more: of the first shard row 0, of the fourth the rows 10 and 0
        (80, [0]), (80, [0]), (8, [0]), (48, [0]), (48, [0]), (8, [0]),
        (80, [10, 0]), (80, [10, 0]), (8, [10, 0]), (48, [10, 0]), (48, [10, 0]), (8, [10, 0]),
    ]  # fmt: skip


def test_stores_of_one_process_share_the_maps_of_a_layer_until_none_needs_it(tmp_path):
    paths = shards(tmp_path, dense(17, 90))
    for keep in (40, 64):
        prune(paths, keep, 17, tmp_path / str(keep))
    wide, narrow = Lookup(Store(tmp_path / "64")), Lookup(Store(tmp_path / "40"))
    assert all(
        left is right for part in range(3) for left, right in zip(wide.mapped[0][part], narrow.mapped[0][part], strict=True)
    )

    def mapped():
        with open("/proc/self/maps") as stream:
            return {line.split("/")[-2] for line in stream if str(tmp_path) in line}

    assert mapped() == {"40", "64"}
    del wide
    assert mapped() == {"40"}
    del narrow
    assert mapped() == set()


def test_only_the_files_of_a_number_of_terms_are_read_for_it(tmp_path):
    paths = shards(tmp_path, dense(17, 90))
    for keep, folders in ((8, ["8"]), (40, ["40"]), (64, ["40", "64"])):
        prune(paths, keep, 17, tmp_path / f"store{keep}")
        names = [f"{folder}/{name}" for folder in folders for name in ("terms.u16", "weights.f16", "sums.u64")]
        full = [path for path, size in zip(paths, SIZES, strict=True) if size]
        assert Store(tmp_path / f"store{keep}").files == [path / name for path in full for name in names]


def test_a_store_without_documents_scores_none(tmp_path):
    write(tmp_path / "a", dense(0, 9), [3, 4])
    prune([tmp_path / "a"], 4, 0, tmp_path / "store")
    assert scores(Lookup(Store(tmp_path / "store")), [], queries(1, 9)[0]).tolist() == []


def test_copies_of_rows_are_rows():
    terms, weights = np.array([[1, 5], [2, 6], [3, 7]], np.uint16), np.array([[1, 2], [3, 4], [5, 6]], np.float16)
    rows = Rows([0, 2, 3], [[(terms[:2], weights[:2]), (terms[2:], weights[2:])]])
    query = QueryVector(np.array([3, 5, 6], np.uint16), np.array([1, 10, 100], np.float32))
    assert rows.dot(np.array([0, 1, 2]), query).tolist() == [20.0, 400.0, 5.0]
    assert rows.copied(np.array([2, 0])).dot(np.array([0, 1, 1]), query).tolist() == [5.0, 20.0, 20.0]


def test_many_shards_are_opened_although_few_files_may_be(tmp_path):
    import os
    import resource

    paths = [tmp_path / f"{number}-of-60" for number in range(60)]
    for number, path in enumerate(paths):
        write(path, dense(1, 10, seed=number), [2, 4], start=number)
    prune(paths, 4, 60, tmp_path / "store")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        assert len(scores(Lookup(Store(tmp_path / "store")), [str(row) for row in range(60)], queries(1, 10)[0])) == 60
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_each_number_of_terms_is_dropped_from_memory_by_its_own_layers(tmp_path, monkeypatch):
    """The files of one number must not be read, or kept, for another while a row is timed with nothing in memory."""
    from types import SimpleNamespace

    from epic.rankers.epic import Timed

    paths = shards(tmp_path, dense(17, 90))
    monkeypatch.setattr("epic.vectors.store.model_digest", lambda checkpoint: "m")
    bench = SimpleNamespace(once=lambda key, make: None)
    for keep, folders in ((8, ["8"]), (64, ["40", "64"])):
        prune(paths, keep, 17, tmp_path / f"store{keep}")
        files = SimpleNamespace(store=tmp_path / f"store{keep}", checkpoint=tmp_path)
        full = [path for path, size in zip(paths, SIZES, strict=True) if size]
        assert Timed(None, files, {}, {}, bench).on_disk == [path / folder for path in full for folder in folders]
