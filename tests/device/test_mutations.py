"""Every place of the source that names a device is needed: without it, the work on a card fails."""

import json
import re

import pytest
import torch

from epic.model.bert import Packed
from epic.model.body import Other, body_of
from tests.device.card import ON
from tests.device.mutations import sites, work_as_mutant
from tests.processes import call

REVIEWED = {  # sites that the work below may do without, and why
    "epic.model.body.Other.forward: ids.new_full(ids.shape, segment)": "bodies of transformers have a test of their own below",
    "epic.model.equations.Released.hidden: f.to(self.dense.weight.dtype)": "a kind of number, not a device",
    "epic.model.equations.strongest: weights.new_zeros(weights.shape[1])": "called on a CPU alone",
    "epic.model.equations.phi_q: w.new_zeros(w.shape[0], vocabulary)": "called by tests alone: queries are never that long",
    "epic.rankers.cross_encoder.Ranker.logits: self.dropout(pooled).to(self.classifier.weight.dtype)": "a kind of number, not a device",
    "epic.rankers.duet.Duet.forward: x.to(self.last.weight.dtype)": "a kind of number, not a device",
    "epic.training.train.numbers_of: torch.cat(tensors).cpu()": "the same numbers with more waits, which test_training counts",
    "epic.vectors.device_topk.top_terms: _ranks(vectors).to(_kind(bits))": "a kind of number, not a device",
    "epic.vectors.device_topk._patterns: vectors.view(torch.int16).to(torch.int32)": "a kind of number, not a device",
}
NOTICED = "on the same device|a card's tensor to numpy|an invalid python storage|AssertionError"
MUTATED = [site for site in sites() if str(site) not in REVIEWED]


@pytest.fixture(scope="module")
def folder(mlm_encoder, tmp_path_factory):
    """What the work needs, and the results of the CPU."""
    from tests.device.work import prepare_work

    folder = tmp_path_factory.mktemp("work")
    prepare_work(mlm_encoder, folder)
    return folder


def test_the_work_ends_well_if_nothing_is_forgotten(folder):
    done = call(work_as_mutant, None, folder)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("site", MUTATED, ids=str)
def test_a_device_that_is_forgotten_is_noticed(folder, site):
    done = call(work_as_mutant, site, folder)
    print(done.stdout[-500:])
    assert done.returncode == 1 and re.search(NOTICED, done.stdout), f"nothing noticed that {site} was forgotten"


def test_the_list_names_only_what_is_there():
    assert set(REVIEWED) <= set(map(str, sites())) and len(MUTATED) >= 30


@pytest.mark.parametrize("lengths", [(3, 5), (4, 4)])
def test_a_body_of_transformers_computes_on_a_card_what_it_does_on_a_cpu(tiny_encoder, card, lengths):
    config = json.loads((tiny_encoder / "config.json").read_text()) | {"hidden_act": "relu"}  # not our own body's
    body, windows = body_of(config), [[2, *range(5, 5 + length), 3] for length in lengths]
    assert isinstance(body, Other)
    with torch.no_grad():
        expected = body.eval()(Packed.of(windows, "cpu"), 1)
        card.forget()
        found = body.to(ON)(Packed.of(windows, ON), 1)
    assert torch.allclose(found.cpu(), expected, rtol=1e-4, atol=1e-5) and card.launches["addmm"]
