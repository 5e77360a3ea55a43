"""Encoding: shards, batches, counts; unpruned scores equal stored ones."""

import json
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from epic.batches import by_tokens
from epic.config import EncodeSettings
from epic.documents import Documents
from epic.encode import encode_shard, parse_shard, shard_bounds
from epic.files import InputError
from epic.frequencies import Counter, gather, read_frequencies, share_up_to
from epic.importance import query_vector
from epic.lookup import pruned_scores
from epic.pace import pace
from epic.prune import cut, prune
from epic.runs import ScoredDoc
from epic.store import Store
from epic.unpruned import unpruned_scores
from epic.weigh import weigh
from tests.conftest import ROOT

SETTINGS = EncodeSettings(max_terms=1000, token_budget=64, vocabulary_block=5)


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    texts = [
        "price of a pool",
        "",
        "x",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "café cost",
        "pools pools",
        "z y x",
    ]
    (folder / "docs.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in enumerate(texts)), encoding="utf-8")
    return Documents(f"path:{folder}")


@pytest.mark.parametrize(("total", "shards"), [(0, 1), (5, 2), (7, 7), (3, 8), (8_841_823, 64)])
def test_shards_tile_the_collection(total, shards):
    bounds = [shard_bounds(total, shard, shards) for shard in range(1, shards + 1)]
    assert bounds[0].start == 0 and bounds[-1].stop == total
    assert all(left.stop == right.start for left, right in zip(bounds, bounds[1:], strict=False))


def test_a_shard_that_does_not_exist_is_refused():
    assert parse_shard("3-of-64") == (3, 64)
    with pytest.raises(InputError):
        parse_shard("third")
    with pytest.raises(InputError):
        shard_bounds(10, 3, 2)


def test_batches_hold_every_text_once_within_the_budget():
    pieces = {str(i): [0] * length for i, length in enumerate([1, 30, 2, 14, 0, 14, 7])}
    batches = by_tokens(pieces, budget=40, window=14)
    assert sorted(name for batch in batches for name in batch) == sorted(pieces)
    assert len(batches) > 1
    sizes = {name: len(ids) + 2 * max(1, -(-len(ids) // 14)) for name, ids in pieces.items()}  # 30 word-pieces are three windows
    assert sizes["1"] == 36 and sizes["4"] == 2
    totals = [sum(sizes[name] for name in batch) for batch in batches]
    assert all(total <= 40 for total in totals) and max(totals) > 35  # and they are used


def encoded(model, documents, tmp_path, shards, settings=SETTINGS):
    paths = []
    for shard in range(1, shards + 1):
        paths.append(tmp_path / f"{shard}-of-{shards}")
        encode_shard(model, "digest", documents, f"{shard}-of-{shards}", settings, paths[-1])
    return paths


def test_as_many_vectors_as_documents_in_document_order(model, documents, tmp_path):
    stores = [Store(path) for path in encoded(model.float(), documents, tmp_path, 3)]
    assert [len(store) for store in stores] == [2, 2, 3]
    assert [store.start for store in stores] == [0, 2, 4]
    assert not stores[0].weights[1].any()  # the empty passage


def one_step(left, right):
    """Equal up to one float16 step."""
    return np.all(np.abs(left.astype(np.float64) - right) <= np.spacing(np.maximum(abs(left), abs(right))).astype(np.float64))


def test_vectors_do_not_depend_on_batches_blocks_or_shards(model, documents, tmp_path):
    model, whole = model.float(), []
    for name, shards, settings in (("a", 1, SETTINGS), ("b", 4, EncodeSettings(1000, 512, 1000))):
        (tmp_path / name).mkdir()
        paths = encoded(model, documents, tmp_path / name, shards, settings)
        whole.append(np.concatenate([Store(path).weights for path in paths]))
    assert one_step(*whole)


def test_selection_does_not_depend_on_batches_blocks_shards_or_threads(model, documents, tmp_path):
    """Sorted weights differ by at most one float16 step, and terms only within one step of the r-th weight."""
    import torch

    model, before, found = model.float(), torch.get_num_threads(), []
    for name, shards, threads, settings in (("a", 1, 1, EncodeSettings(9, 64, 5)), ("b", 3, 2, EncodeSettings(9, 512, 1000))):
        (tmp_path / name).mkdir()
        torch.set_num_threads(threads)
        try:
            stores = [Store(path) for path in encoded(model, documents, tmp_path / name, shards, settings)]
        finally:
            torch.set_num_threads(before)
        found.append([np.concatenate([getattr(store, part) for store in stores]) for part in ("terms", "weights")])
    for left_terms, left, right_terms, right in zip(*found[0], *found[1], strict=True):
        assert one_step(np.sort(left), np.sort(right))
        odd = np.concatenate([left[~np.isin(left_terms, right_terms)], right[~np.isin(right_terms, left_terms)]])
        assert (abs(odd.astype(np.float64) - left.min()) <= np.spacing(left.min())).all()
        assert (np.diff(left_terms.astype(int)) > 0).all() and (np.diff(right_terms.astype(int)) > 0).all()


@pytest.mark.skipif("not __import__('torch').cuda.is_available()", reason="needs a GPU")
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_gpu_gives_the_same_vectors(model, documents, tmp_path, precision):
    from epic.compute import PRECISIONS

    model = model.float()
    expected = Store(encoded(model, documents, tmp_path, 1)[0]).weights
    model.to("cuda").precision = PRECISIONS[precision]
    encode_shard(model, "digest", documents, "1-of-1", SETTINGS, tmp_path / "gpu")
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if precision == "float32" else {"rtol": 0.1, "atol": 0.05}
    assert np.allclose(Store(tmp_path / "gpu").weights, expected, **tolerance)


KILLED = """
import os, signal, sys
from epic.config import EncodeSettings
from epic.encode import encode_shard
from epic.model import Epic
import epic.encode
epic.encode.PASSAGES_AT_A_TIME = 2

class Texts:
    def __len__(self):
        return 5

    def span(self, positions):
        for place in positions:
            if place == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield str(place), "abcde"[place]

model = Epic.from_encoder(sys.argv[1], "paper", seed=7).eval()
encode_shard(model, "digest", Texts(), "1-of-1", EncodeSettings(9, 512, 100), sys.argv[3])
"""


def test_a_killed_shard_leaves_nothing_that_counts_and_is_made_anew(mlm_encoder, tmp_path):
    def run(victim, out):
        command = [sys.executable, "-c", KILLED, str(mlm_encoder), str(victim), str(out)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).returncode

    assert run(4, tmp_path / "a" / "shard") == -signal.SIGKILL  # two times two passages were written by then
    assert [path.suffix for path in (tmp_path / "a").iterdir()] == [".part"]
    assert run(99, tmp_path / "a" / "shard") == 0 and run(99, tmp_path / "b" / "shard") == 0
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["shard"]
    for path in (tmp_path / "b" / "shard").iterdir():
        assert (tmp_path / "a" / "shard" / path.name).read_bytes() == path.read_bytes()
    Store(tmp_path / "a" / "shard").verify()


def test_the_pace_is_told():
    assert pace(50, 200, 10.0) == "50 of 200 passages, 5.0 passages/s, 0.5 minutes left"


def test_unpruned_scores_equal_those_of_a_complete_store(model, documents, tmp_path):
    model = model.float()
    store = Store(encoded(model, documents, tmp_path, 1)[0])
    queries = weigh(partial(query_vector, model), {"q": "cost of pool pool", "r": "x", "none": ""})
    run = {query_id: [ScoredDoc(str(doc), 0.0) for doc in (3, 0, 6, 1, 4)] for query_id in queries}
    stored, computed = pruned_scores(store, queries, run), unpruned_scores(model, documents, queries, run, token_budget=64)
    for query_id in queries:
        assert [hit.doc_id for hit in computed[query_id]] == ["3", "0", "6", "1", "4"]
        left, right = ([hit.score for hit in scored[query_id]] for scored in (stored, computed))
        assert left == pytest.approx(right, rel=1e-3, abs=1e-6)
    assert {hit.score for hit in computed["none"]} == {0.0}


def test_unpruned_scores_hold_the_texts_of_a_few_passages_at_a_time(model, documents, monkeypatch):
    model, asked = model.float(), []
    queries = weigh(partial(query_vector, model), {"q": "cost of pool pool", "r": "x"})
    run = {"q": [ScoredDoc(str(doc), 0.0) for doc in (3, 0, 6)], "r": [ScoredDoc(str(doc), 0.0) for doc in (6, 1, 4)]}
    whole = unpruned_scores(model, documents, queries, run, token_budget=64)
    texts = documents.texts
    monkeypatch.setattr(documents, "texts", lambda doc_ids: asked.append(list(doc_ids)) or texts(doc_ids))
    monkeypatch.setattr("epic.unpruned.AT_A_TIME", 2)
    sliced = unpruned_scores(model, documents, queries, run, token_budget=64)
    assert asked == [["3", "0"], ["6", "1"], ["4"]]
    for query_id in run:
        assert [hit.doc_id for hit in sliced[query_id]] == [hit.doc_id for hit in run[query_id]]
        assert [hit.score for hit in sliced[query_id]] == pytest.approx([hit.score for hit in whole[query_id]], rel=1e-3)


def test_every_value_of_every_passage_is_counted_rounded_up(model, documents, tmp_path):
    paths = encoded(model.float(), documents, tmp_path, 2)
    gather(paths, tmp_path / "f.tsv")
    counts = read_frequencies(tmp_path / "f.tsv")
    assert sum(counts.values()) == 7 * model.vocabulary
    assert (min(counts) < 0) == (model.formulation == "paper")  # psi is linear there, so there are negative values
    dense = np.concatenate([Store(path).weights for path in paths])  # max_terms is larger than this vocabulary
    assert counts == {tenth: int((np.ceil(dense.astype(np.float64) * 10) == tenth).sum()) for tenth in counts}


def test_values_are_rounded_up_by_hand():
    counter = Counter()
    counter.add(np.array([[0.0, 0.05, 0.25], [-0.05, -0.75, 1.0]], dtype=np.float16))
    assert counter.tenths() == {0: 2, 1: 1, 3: 1, -7: 1, 10: 1}
    assert share_up_to(counter.tenths(), 1) == pytest.approx(4 / 6)


def test_lost_counts_are_noticed(model, documents, tmp_path):
    path = encoded(model.float(), documents, tmp_path, 1)[0]
    counts = json.loads((path / "frequencies.json").read_text())
    counts.popitem()
    (path / "frequencies.json").write_text(json.dumps(counts))
    with pytest.raises(InputError, match="values were counted"):
        gather([path], tmp_path / "f.tsv")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_not_finite_in_float16_are_refused_with_the_document(paper_model, documents, tmp_path, value):
    import torch

    model = paper_model.float()
    with torch.no_grad():
        model.equations.Theta2[7].fill_(value)
    with pytest.raises(InputError, match=r"document \d has a weight that is not finite"):
        encoded(model, documents, tmp_path, 1)
    assert not (tmp_path / "1-of-1").exists()
    queries = weigh(partial(query_vector, model), {"q": model.tokenizer.id_to_token(7)})
    with pytest.raises(InputError, match="document 0 has a weight that is not finite"):
        unpruned_scores(model, documents, queries, {"q": [ScoredDoc("0", 1.0)]}, token_budget=64)


@pytest.mark.parametrize("shard", ["1-of-1", "2-of-3"])
def test_pruning_a_shard_equals_encoding_it_at_that_r_byte_for_byte(model, documents, tmp_path, shard):
    model = model.float()
    wide = EncodeSettings(max_terms=20, token_budget=64, vocabulary_block=5)
    encode_shard(model, "digest", documents, shard, wide, tmp_path / "wide")
    store = Store(tmp_path / "wide")
    for keep in (20, 10, 1):
        narrow = EncodeSettings(max_terms=keep, token_budget=64, vocabulary_block=5)
        encode_shard(model, "digest", documents, shard, narrow, tmp_path / f"narrow{keep}")
        direct = Store(tmp_path / f"narrow{keep}")
        terms, weights = cut(store.terms, store.weights, keep)
        assert terms.tobytes() == direct.terms.tobytes() and weights.tobytes() == direct.weights.tobytes()
        if shard == "1-of-1":
            prune([tmp_path / "wide"], keep, len(documents), tmp_path / f"pruned{keep}")
            for name in ("terms.u16", "weights.f16"):
                assert (tmp_path / f"pruned{keep}" / name).read_bytes() == (tmp_path / f"narrow{keep}" / name).read_bytes()


def test_more_passages_than_are_sorted_at_a_time_stay_in_order(paper_model, documents, tmp_path, monkeypatch):
    import epic.encode

    model = paper_model.float()
    expected = Store(encoded(model, documents, tmp_path, 1)[0])
    monkeypatch.setattr(epic.encode, "PASSAGES_AT_A_TIME", 2)
    encode_shard(model, "digest", documents, "1-of-1", SETTINGS, tmp_path / "small")
    found = Store(tmp_path / "small")
    assert len(found) == 7 and one_step(found.weights, expected.weights)
