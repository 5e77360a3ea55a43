"""The cross-encoder on a card: trained, cut off and gone on, saved, loaded, scored and timed; few launches, one wait a batch."""

import json
from types import SimpleNamespace

import pytest
import torch

from epic.corpus.runs import ScoredDoc
from epic.latency.latency import Bench
from epic.rankers import cross_encoder as family
from epic.training.resume import State
from epic.training.train import train
from tests.cross_encoders import ENTRY
from tests.device.card import ON
from tests.device.test_training import CutOffError, Interrupted
from tests.training import RUN, settings, without_seconds

SMALL = ENTRY | {"settings": {"query_pieces": 4, "total_pieces": 15}}
CPU = {"device": "cpu", "threads": 1, "precision": "float32"}


def learned(encoder, examples, validation, folder, kind=State, **changes):
    """Train on the card; return the weights and the history."""
    ranker = family.create(encoder, SMALL, [], ON)
    changes = {"schedule": {"warm_up": 2, "steps": 12}, "weight_decay": 0.01, "clip": 1.0, "patience": 9} | changes
    history = train(family, ranker, examples, validation, settings(**changes), "binary-cross-entropy", 7, kind(folder, "key"))
    assert {str(value.device) for value in ranker.parameters()} == {ON}
    return {name: value.cpu() for name, value in ranker.state_dict().items()}, without_seconds(history)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_it_is_trained_and_goes_on_after_it_was_cut_off(tiny_encoder, examples, validation, tmp_path, card, precision):
    examples = examples()
    whole, expected = learned(tiny_encoder, examples, validation, tmp_path / "whole", precision=precision)
    with pytest.raises(CutOffError):
        learned(tiny_encoder, examples, validation, tmp_path / "cut", Interrupted, precision=precision)
    found, history = learned(tiny_encoder, examples, validation, tmp_path / "cut", precision=precision)
    assert len(history) == 3 and history == expected
    assert all(torch.equal(value, whole[name]) for name, value in found.items())


def test_it_is_saved_loaded_scored_and_timed(tiny_encoder, examples, tmp_path, compute, card):
    documents = examples().documents
    ranker = family.create(tiny_encoder, SMALL, [], ON)
    with torch.no_grad():
        ranker.classifier.weight.mul_(50)  # so that pairs differ
    family.save(ranker, tmp_path / "checkpoint", str)
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": documents.dataset, "count": 4}))
    (tmp_path / "q.tsv").write_text("q1\tcost of pool\nq2\ta b\n")
    files = SimpleNamespace(checkpoint=tmp_path / "checkpoint", queries=tmp_path / "q.tsv", manifest=tmp_path / "manifest.json")
    expected = family.score_run(RUN, files, CPU, 512)
    card.forget()
    found = family.score_run(RUN, files, compute, 512)
    assert card.counts[1] == 1 and card.launches["addmm"]  # both queries are one batch, which is waited for once
    for query_id, hits in expected.items():
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], rel=0.02, abs=0.02)
    timed = family.timed(lambda text: ["0", "2"], files, {}, {}, {"compute": compute}, Bench(tmp_path))
    with timed.opened() as time_one:
        assert time_one("pool")["total"] > 0


@torch.no_grad()
def test_a_card_computes_what_the_cpu_does_and_launches_do_not_grow_with_pairs(tiny_encoder, card):
    ranker = family.create(tiny_encoder, SMALL, [], "cpu")
    pairs = [[5, 6], [7], [], [8, 9, 10]], [[11, 12, 13], [], [14], list(range(5, 30))]
    alike = [[5, 6]] * 3, [[7, 8]] * 3  # nothing to pad
    expected = [ranker.scores(*some) for some in (pairs, alike)]
    ranker.to(ON)
    for some, scores in zip((pairs, alike), expected, strict=True):
        assert torch.allclose(ranker.scores(*some).cpu(), scores, rtol=1e-4, atol=1e-5)
    counts = []
    for times in (1, 8):
        card.forget()
        ranker.scores(*(part * times for part in pairs))
        counts.append(card.counts)
    assert counts[0] == counts[1] and counts[0][1] == 0 and counts[0][0] < 120


def test_pairs_that_do_not_fit_on_the_card_are_scored_in_smaller_batches(tiny_encoder, examples, card, monkeypatch):
    ranker, documents = family.create(tiny_encoder, SMALL, [], ON), examples().documents
    run, queries = {"q": [ScoredDoc(doc, 0.0) for doc in "0123"]}, {"q": "cost of pool"}
    expected = family.score(ranker, run, queries, documents, 512)
    real, asked = ranker.scores, []

    def small(some, passages):
        asked.append(len(some))
        if len(some) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(some, passages)

    monkeypatch.setattr(ranker, "scores", small)
    found = family.score(ranker, run, queries, documents, 512)
    assert [hit.score for hit in found["q"]] == pytest.approx([hit.score for hit in expected["q"]], abs=1e-5)
    assert asked[0] == 4 and max(asked[1:]) <= 2
