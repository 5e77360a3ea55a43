"""A family that scores pairs of texts, on a card: trained with accumulation, cut off, gone on, saved, loaded, scored and timed."""

import json
from types import SimpleNamespace

import pytest
import torch

from epic.latency.latency import Bench
from epic.training.resume import State
from epic.training.train import train
from tests import fake_ranker as family
from tests.device.card import ON
from tests.device.test_training import CutOffError, Interrupted
from tests.training import RUN, settings, without_seconds

ENTRY = {"id": "overlap", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 3}


def learned(examples, validation, folder, kind=State, **changes):
    """Train such a ranker on the card."""
    ranker = family.create([], ENTRY, [], ON)
    history = train(family, ranker, examples, validation, settings(**changes), "cross-entropy", 7, kind(folder, "key"))
    return ranker, without_seconds(history)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_it_is_trained_and_goes_on_after_it_was_cut_off(examples, validation, tmp_path, card, precision):
    examples, changes = examples(), {"precision": precision, "patience": 9}
    whole, expected = learned(examples, validation, tmp_path / "whole", **changes)
    with pytest.raises(CutOffError):
        learned(examples, validation, tmp_path / "cut", Interrupted, **changes)
    ranker, history = learned(examples, validation, tmp_path / "cut", **changes)
    assert len(history) == 3 and history == expected and torch.equal(ranker.weight.cpu(), whole.weight.cpu())
    assert str(ranker.weight.device) == ON and card.launches["_fused_adam_"]


def test_it_is_saved_loaded_scored_and_timed(examples, tmp_path, compute, card):
    documents = examples().documents
    family.save(family.create([], ENTRY, [], ON), tmp_path / "checkpoint", str)
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": documents.dataset, "count": 4}))
    (tmp_path / "q.tsv").write_text("q1\tcost of pool\nq2\ta b\n")
    files = SimpleNamespace(checkpoint=tmp_path / "checkpoint", queries=tmp_path / "q.tsv", manifest=tmp_path / "manifest.json")
    expected = family.score_run(RUN, files, compute | {"device": "cpu", "precision": "float32"}, 0)
    card.forget()
    found = family.score_run(RUN, files, compute, 512)
    assert card.counts[1] == 1  # one wait a batch, of both queries here
    for query_id, hits in expected.items():
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], rel=0.02, abs=0.01)
    timed = family.timed(lambda text: ["0", "2"], files, {}, {}, {"compute": compute}, Bench(tmp_path))
    with timed.opened() as time_one:
        assert time_one("pool")["total"] > 0
