"""Products in TF32: in jobs that ask for it, on cards that have it, and never in training."""

import pytest
import torch

from epic.model import device
from epic.model.epic import load_model
from tests import fake_ranker
from tests.training import trained


@pytest.fixture(autouse=True)
def switch():
    """Torch's switch, off before and after."""
    device._has_tf32.cache_clear()
    yield
    device.round_products(False)
    device._has_tf32.cache_clear()


@pytest.fixture
def capability(monkeypatch):
    """A card of some compute capability, as torch would tell."""
    found = [(8, 0)]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda card: found[0])
    monkeypatch.setattr(device, "_card", lambda: "cuda:0")
    return found


def rounded() -> bool:
    """Whether products are rounded, by both of torch's switches; neither may raise for the other."""
    found = torch.backends.cuda.matmul.allow_tf32
    assert (torch.backends.cuda.matmul.fp32_precision == "tf32") == found == (torch.get_float32_matmul_precision() == "high")
    return found


@pytest.mark.parametrize(("card", "expected"), [((8, 0), True), ((12, 0), True), ((7, 5), False), ((6, 1), False)])
def test_a_card_rounds_products_if_it_can_and_only_where_tf32_is_asked_for(capability, caplog, card, expected):
    capability[0] = card
    with caplog.at_level("INFO"):
        for _ in range(3):
            assert device.prepare("cuda", 1, "tf32") == "cuda:0" and rounded() == expected
    assert caplog.text.count("cuda:0 has no tf32; products are computed in float32") == (not expected)  # once
    for precision in ("float32", "float16", "bfloat16"):
        device.prepare("cuda", 1, precision)
        assert not rounded()


def test_tf32_is_float32_on_a_cpu_and_says_so_once(checkpoint, caplog):
    compute = {"device": "cpu", "threads": 1, "precision": "tf32"}
    with caplog.at_level("INFO"):
        assert load_model(checkpoint, compute).precision == load_model(checkpoint, compute).precision == torch.float32
    assert not rounded() and caplog.text.count("cpu has no tf32") == 1


def test_a_model_and_a_family_of_pairs_ask_for_what_the_experiment_says(checkpoint, tmp_path, monkeypatch):
    asked, prepare = [], device.prepare
    compute = {"device": "cpu", "threads": 1, "precision": "tf32"}
    monkeypatch.setattr("epic.model.epic.prepare", lambda *given: asked.append(given) or prepare(*given))
    monkeypatch.setattr("epic.rankers.pairs.prepare", lambda *given: asked.append(given) or prepare(*given))
    load_model(checkpoint, compute)
    entry = {"id": "overlap", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 3}
    fake_ranker.save(fake_ranker.create([], entry, [], "cpu"), tmp_path / "pairs", str)
    assert fake_ranker.load(tmp_path / "pairs", compute).precision == torch.float32
    assert asked == [("cpu", 1, "tf32")] * 2


def test_training_never_rounds_even_after_inference_in_the_same_process(
    capability, mlm_encoder, examples, validation, tmp_path, monkeypatch
):
    device.prepare("cuda", 1, "tf32")
    assert rounded()
    seen, family = [], __import__("epic.rankers.epic", fromlist=["pair_scores"])
    for name in ("pair_scores", "score"):
        inner = getattr(family, name)
        monkeypatch.setattr(family, name, lambda *given, inner=inner: seen.append(rounded()) or inner(*given))
    trained(mlm_encoder, examples(), validation, tmp_path)
    assert seen and not any(seen) and not rounded()
    device.prepare("cuda", 1)  # what the script of training says
    assert not rounded()
