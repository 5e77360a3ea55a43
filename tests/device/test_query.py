"""Queries on a card: one at a time, unpadded, in another thread than the model was loaded in, in every precision."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from epic.corpus.runs import ScoredDoc, write_run
from epic.latency.latency import Bench
from epic.model.bert import Packed, Padding
from epic.model.epic import load_model
from epic.model.query_torch import query_vector
from epic.model.weigh import query_encoder, query_vectors
from epic.rankers import epic as family
from tests.device.card import ELSEWHERE, ON

QUERIES = {"q": "price of a pool", "r": "x", "none": "", "long": "a b c d e f g h i j k l m n o p q r s t u v w x y z a b"}
CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
PADS = ("index_copy", "index_select", "scatter")
NEAR = {"float32": 1e-5, "tf32": 1e-2, "float16": 1e-2, "bfloat16": 5e-2}  # of values around 1


def by_torch(checkpoint, compute):
    """The query encoder of torch, on a CPU, too."""
    model = load_model(checkpoint, compute)
    return lambda text: query_vector(model, text)


def test_one_query_is_not_padded_and_waits_for_the_card_once(model, card):
    model = model.float().to(ON)
    query_vector(model, "price of a pool")
    card.forget()
    query_vector(model, "price of a pool")
    assert not any(card.launches[name] for name in PADS), card.launches
    assert card.launches["_to_copy"] == 3 and dict(card.syncs) == {"_to_copy": 1}  # ids and positions, rows; weights come back
    assert card.counts[0] <= 75, card.launches  # two layers


def test_windows_of_one_length_are_not_padded_and_give_what_padded_ones_do(model, card, monkeypatch):
    model, pieces = model.float().to(ON), [[5, 6, 7], [8, 9, 10]]
    card.forget()
    found = model.query_tokens(pieces).f
    launches = card.launches
    assert not any(launches[name] for name in PADS)
    card.forget()
    among = model.query_tokens([*pieces, [5]]).f[:6]
    assert card.launches["index_copy"] == 6 and card.launches["index_select"] == 2  # the bar above can fail
    assert sum(launches.values()) < sum(card.launches.values())
    assert torch.allclose(found.cpu(), among.cpu(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lengths", [[3], [4, 4], [2, 5, 1], [0, 0], [0, 2]])
def test_rows_are_padded_and_come_back(lengths):
    padding, rows = Padding.of(lengths, "cpu"), torch.randn(sum(lengths), 3)
    batch, mask = padding.pad(rows), padding.mask(rows)
    assert batch.shape == (len(lengths), max(lengths), 3) and torch.equal(padding.unpad(batch), rows)
    assert mask.sum(1).tolist() == lengths and torch.equal(batch[mask], rows) and not batch[~mask].any()
    assert padding.pad(rows[:, 0]).shape == mask.shape and (padding.places is None) == (min(lengths) == max(lengths))


def test_positions_begin_anew_in_every_window():
    packed = Packed.of([[7, 8, 9], [7], [8, 9]], "cpu")
    assert packed.positions.tolist() == [0, 1, 2, 0, 0, 1] and packed.ids.tolist() == [7, 8, 9, 7, 8, 9]


@pytest.mark.parametrize("released_batches", [False, True])
def test_a_query_set_is_weighed_as_on_the_cpu(checkpoint, compute, card, released_batches):
    facts = json.loads((checkpoint / "epic.json").read_text())
    (checkpoint / "epic.json").write_text(json.dumps(facts | {"released_batches": released_batches}))
    expected = query_vectors(checkpoint, CPU, QUERIES)
    found = query_vectors(checkpoint, compute, QUERIES)
    assert card.launches["addmm"] and list(found) == list(QUERIES)
    for query_id, vector in expected.items():
        assert found[query_id].terms.tolist() == vector.terms.tolist()
        near = NEAR[compute["precision"]]
        assert found[query_id].weights == pytest.approx(vector.weights, rel=near, abs=near)
    moved = any((found[query_id].weights != vector.weights).any() for query_id, vector in expected.items())
    assert moved or compute["precision"] == "float32"  # it was computed in that precision


def test_a_thread_computes_as_the_thread_that_loaded_the_model_does(checkpoint, compute, card):
    encode, threads = query_encoder(checkpoint, compute), []

    def in_thread(text):
        threads.append(threading.get_ident())
        card.forget()
        return encode(text)

    expected = {query_id: encode(text) for query_id, text in QUERIES.items()}
    with ThreadPoolExecutor(1) as pool:
        for query_id, text in QUERIES.items():
            found = pool.submit(in_thread, text).result()
            assert card.launches["addmm"] and np.array_equal(found.weights, expected[query_id].weights)
    assert threading.get_ident() not in threads


def test_a_tensor_that_is_put_on_the_card_of_the_moment_is_caught(card):
    """A thread's own card need not be the model's: the stand-in's never is."""
    assert torch.ones(2).to("card").device.index == ELSEWHERE
    with pytest.raises(RuntimeError, match="card:0 and card:1"):
        torch.ones(2).to(ON) + torch.ones(2).to("card")


@pytest.fixture
def files(checkpoint, documents, tmp_path):
    """The files of an unpruned row."""
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": documents.dataset, "count": 7}))
    (tmp_path / "cutoff.json").write_text(json.dumps({"cutoff": 4}))
    write_run(tmp_path / "first.run", {"q": [ScoredDoc(doc, 9.0) for doc in "5031"]}, "bm25")
    (tmp_path / "bench").mkdir()
    names = {"manifest": "manifest.json", "run": "first.run", "cutoff": "cutoff.json"}
    return SimpleNamespace(checkpoint=checkpoint, store=[], **{key: tmp_path / name for key, name in names.items()})


def test_a_row_is_timed_with_its_query_vector_in_a_thread_and_dense_vectors_from_the_card(files, compute, card, tmp_path):
    bench, settings = Bench(tmp_path / "bench"), {"encode": {"token_budget": 64, "vocabulary_block": 5}}
    scored, computed_in, main = {}, {}, threading.get_ident()
    for place in (compute, CPU):
        system = family.timed(lambda text: list("5031"), files, {"q": QUERIES["q"]}, {}, settings | {"compute": place}, bench)
        encode, system.dense.path = by_torch(files.checkpoint, place), None
        kept = computed_in[place["device"]] = []
        system.encode = lambda text, kept=kept, encode=encode: kept.append(threading.get_ident()) or encode(text)
        width, rows = 37, len(system.dense.doc_ids)
        system.dense.settings = settings | {"compute": place}
        card.forget()
        with system.opened() as time_one:
            times = time_one(QUERIES["q"])
        assert times["total"] >= times["query_vector"] > 0 and bool(card.launches["addmm"]) == (place is compute)
        scored[place["device"]] = np.fromfile(system.on_disk[0], np.float16).reshape(rows, width)
    assert main not in computed_in[ON] and len(computed_in[ON]) == 1
    near = max(1e-3, 2 * NEAR[compute["precision"]])
    assert np.allclose(scored[ON].astype(float), scored["cpu"], rtol=near, atol=near)
