"""Encoding on a card: the vectors of the CPU, few launches, no sync for a single passage, and a batch that does not fit."""

import numpy as np
import pytest
import torch

from epic.experiment.settings import EncodeSettings
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_tensors
from epic.vectors.store import Store
from tests.device import card as stand_in
from tests.device.card import ON
from tests.vectors import SETTINGS, encoded, one_step, spoken

WORDS = ["price", "of", "a", "pool", "x", "y", "z", "café", "cost", "pools"]
LAUNCHES, SYNCS = 140, 5  # of a batch with one block of the vocabulary, however many passages it has


def passages(count: int) -> list[str]:
    return [" ".join(WORDS[place % 7 : place % 7 + 1 + place % 3]) for place in range(count)]


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_a_card_gives_the_vectors_of_the_cpu(model, documents, tmp_path, card, precision):
    from epic.model.device import PRECISIONS

    model = model.float()
    expected = Store(encoded(model, documents, tmp_path, 1)[0])
    model.to(ON).precision = PRECISIONS[precision]
    encode_shard(model, "digest", spoken(model, documents), SETTINGS, tmp_path / "card")
    found = Store(tmp_path / "card")
    assert card.launches["topk"] and card.launches["segment_reduce"]  # it was computed there
    if precision == "float32":
        assert one_step(found.weights, expected.weights)
        assert (tmp_path / "card" / "frequencies.json").read_text() == (tmp_path / "1-of-1" / "frequencies.json").read_text()
    else:
        assert np.allclose(found.weights, expected.weights, rtol=0.1, atol=0.05) and (found.weights != expected.weights).any()


def test_launches_and_syncs_of_a_batch_do_not_grow_with_its_passages(model, collection_of, tmp_path, card):
    model, seen = model.float().to(ON), []
    documents = collection_of(*passages(60))
    for count in (20, 60):
        card.forget()
        some = type("Some", (), {"__len__": lambda self, n=count: n, "span": lambda self, rows: documents.span(rows)})()
        encode_shard(model, "digest", spoken(model, some), EncodeSettings(9, 4096, 1000), tmp_path / str(count))
        seen.append((sum(card.launches.values()), sum(card.syncs.values())))
    assert seen[0] == seen[1]
    assert seen[0][0] <= LAUNCHES and seen[0][1] <= SYNCS, (card.launches, card.syncs)


def test_a_launch_for_each_passage_would_be_seen(model, card, monkeypatch):
    """The bar above can fail: with the maximum taken passage by passage it does."""
    from epic.vectors import phi

    def one_by_one(weights, bounds):
        rows = bounds.tolist()
        return torch.stack([weights[start:stop].amax(0) for start, stop in zip(rows, rows[1:], strict=False)])

    model, seen = model.float().to(ON), []
    monkeypatch.setattr(phi, "strongest_of_each", one_by_one)
    for count in (20, 60):
        card.forget()
        document_tensors(model, model.pieces(passages(count)), 1000)
        seen.append(sum(card.launches.values()))
    assert seen[1] >= seen[0] + 40


@pytest.mark.parametrize("forgotten", ["segment_bounds", "places"])
def test_a_tensor_that_was_left_on_the_cpu_is_caught(model, card, monkeypatch, forgotten):
    from epic.model import equations
    from epic.vectors import device_topk, phi

    model = model.float().to(ON)
    if forgotten == "segment_bounds":
        monkeypatch.setattr(phi, "segment_bounds", lambda lengths, device: equations.segment_bounds(lengths, "cpu"))
        with pytest.raises(RuntimeError, match="same device"):
            document_tensors(model, model.pieces(passages(3)), 7)
    else:
        vectors = document_tensors(model, model.pieces(passages(3)), 7)
        arange = torch.arange
        monkeypatch.setattr(torch, "arange", lambda *bounds, device, **kind: arange(*bounds, **kind))
        with pytest.raises(RuntimeError, match="same device"):
            device_topk.top_terms(vectors, 5)


def test_a_card_that_is_too_small_for_a_batch_gives_the_same_vectors_in_smaller_ones(model, collection_of, tmp_path, caplog):
    model, documents = model.float(), collection_of(*passages(900))
    settings = EncodeSettings(9, 4096, 1000)
    encode_shard(model, "digest", spoken(model, documents), settings, tmp_path / "cpu")
    with stand_in.inserted() as large:
        encode_shard(model.to(ON), "digest", spoken(model, documents), settings, tmp_path / "large")
    model.to("cpu")
    with stand_in.inserted(memory=large.peak - 1) as small:
        encode_shard(model.to(ON), "digest", spoken(model, documents), settings, tmp_path / "small")
    assert small.peak < large.peak and "memory ran out with 900 passages" in caplog.text
    expected, found = Store(tmp_path / "cpu"), Store(tmp_path / "small")
    assert one_step(np.sort(found.weights), np.sort(expected.weights))
