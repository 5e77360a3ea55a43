"""Cards: found by name, scaled by their peaks, or as measured."""

import pytest

from epic.core.files import InputError
from epic.core.machine import Card as Found
from epic.planning import cards
from epic.planning.cards import KNOWN, NO_CARD, PAPERS, Speed, card_named, keep_rates, rates_file, speed_here

RATES = {"float32": {"encode_flops": 5e12, "train_flops": 1e12, "queries": 200.0}}


@pytest.fixture
def here(monkeypatch, tmp_path):
    """A machine with the cards that the test names, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("EPIC_CARD", raising=False)

    def having(*names):
        monkeypatch.setattr(cards, "cards", lambda: [Found(name) for name in names])

    having()
    return having


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("NVIDIA GeForce GTX 1080 Ti", "GTX 1080 Ti"),
        ("NVIDIA A100-SXM4-40GB", "A100"),
        ("NVIDIA A100 80GB PCIe", "A100"),
        ("Tesla V100-SXM2-16GB", "V100"),
        ("Tesla T4", "T4"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA A10", "A10"),
        ("a100", "A100"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA GeForce RTX 3090 Ti", None),
        ("NVIDIA GeForce RTX 4090 D", None),
        ("NVIDIA A10G", None),
        ("NVIDIA L40", None),
        ("NVIDIA GeForce GTX 1080", None),
        ("", None),
    ],
)
def test_a_card_is_known_by_its_model_and_not_by_a_part_of_another(name, card):
    found = card_named(name)
    assert (found and found.name) == card


def test_the_shares_of_the_peak_are_what_the_authors_reached():
    assert pytest.approx(161.3e15 / 50_400 / 11.3e12, rel=0.001) == cards.SHARE_ENCODING  # 0.28
    assert 0.27 < cards.SHARE_ENCODING < 0.29 and 0.07 < cards.SHARE_TRAINING < 0.09


def test_peaks_are_in_the_order_of_precisions_and_what_a_card_lacks_counts_as_float32():
    for card in KNOWN:
        assert card.float32 <= (card.tf32 or card.float32) <= (card.float16 or card.float32) and card.memory_gb >= 11
    turing, pascal, ampere = card_named("T4"), PAPERS, card_named("A100")
    assert [pascal.peak(name) for name in ("float32", "tf32", "float16", "bfloat16")] == [11.3e12] * 4
    assert [turing.peak(name) for name in ("tf32", "float16", "bfloat16")] == [8.1e12, 65e12, 8.1e12]
    assert [ampere.peak(name) for name in ("float32", "tf32", "float16", "bfloat16")] == [19.5e12, 156e12, 312e12, 312e12]


def test_without_a_card_the_papers_is_planned_with(here):
    assert speed_here() == NO_CARD and "GTX 1080 Ti" in NO_CARD.said and "no card" in NO_CARD.said


def test_the_card_of_this_machine_is_planned_with_by_its_peak(here):
    here("NVIDIA A100-SXM4-40GB", "Tesla T4")
    found = speed_here()
    assert found.card.name == "A100" and "A100" in found.said and "peak" in found.said and "paper-check" in found.said
    assert found.encoding("float32") == pytest.approx(cards.SHARE_ENCODING * 19.5e12)


def test_a_card_that_nobody_knows_counts_as_the_papers_and_is_named(here):
    here("NVIDIA B52")
    assert speed_here().card == PAPERS and "NVIDIA B52 is not known" in speed_here().said


def test_another_card_can_be_planned_with(here, monkeypatch):
    here("Tesla T4")
    monkeypatch.setenv("EPIC_CARD", "h100")
    assert speed_here().card.name == "H100"
    monkeypatch.setenv("EPIC_CARD", "B52")
    with pytest.raises(InputError, match="EPIC_CARD=B52: no such card is known.*GTX 1080 Ti, RTX 2080 Ti"):
        speed_here()


def test_measured_rates_are_kept_by_the_cards_full_name_and_used_from_then_on(here, monkeypatch, tmp_path):
    here("NVIDIA A100-SXM4-40GB")
    assert rates_file() == tmp_path / "epic" / "cards.json" and not rates_file().exists()
    assert keep_rates("NVIDIA A100-SXM4-40GB", RATES) == rates_file()
    keep_rates("NVIDIA B52", RATES)
    found = speed_here()
    assert found.encoding("float32") == 5e12 and found.training("float32") == 1e12 and found.query("float32") == 0.005
    assert "as measured on NVIDIA A100-SXM4-40GB (20" in found.said
    assert found.encoding("tf32") == Speed(card_named("A100")).encoding("tf32")  # it was not measured
    here("NVIDIA A100-SXM4-80GB")
    assert not speed_here().measured
    monkeypatch.setenv("EPIC_CARD", "NVIDIA B52")
    assert speed_here().encoding("float32") == 5e12


def test_rates_that_were_damaged_are_refused_with_the_file(here, tmp_path):
    here("Tesla T4")
    keep_rates("Tesla T4", RATES)
    rates_file().write_text("{")
    with pytest.raises(InputError, match=r"cards\.json: not valid JSON"):
        speed_here()


def test_rates_lie_in_the_users_cache_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert rates_file() == tmp_path / ".cache" / "epic" / "cards.json"
