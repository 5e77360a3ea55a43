"""The check of a card, tried on the CPU: what it compares, what it measures and keeps, and when it refuses."""

import pytest

from epic.__main__ import main
from epic.core.files import InputError
from epic.core.machine import Card
from epic.planning import card_check, cards, probes
from epic.planning.card_check import Found, check_card, passages_of, pinned, precisions, table, usable
from epic.planning.cards import rates_file
from epic.planning.probes import Check
from epic.vectors.agreement import Agreement
from tests.conftest import TINY

RATES = {"passages": 2.0, "encode_flops": 4e9, "triples": 1.0, "train_flops": 3e9, "queries": 5.0}


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def a_card(monkeypatch, cache):
    """A machine that says it has a card; the check itself is not made, but found as the test says."""
    import torch

    found = [Found("float32", [Agreement(9, 2, 0), Agreement(9, 5, 0)], RATES)]
    monkeypatch.setattr(probes, "gpu", lambda: Check("GPU (CUDA)", "NVIDIA B52", ""))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA B52")
    monkeypatch.setattr(cards, "cards", lambda: [Card("NVIDIA B52")])
    monkeypatch.setattr(card_check, "write_checkpoint", lambda *_: None)
    monkeypatch.setattr(card_check, "try_out", lambda *_: found)
    return found


@pytest.mark.parametrize("formulation", ["paper", "released"])
def test_the_check_runs_on_a_cpu_from_end_to_end_and_keeps_nothing(mlm_encoder, cache, formulation, capsys):
    given = ["--device", "cpu", "--passages", str(TINY / "docs.tsv"), "--count", "12", "--triples", "16"]
    assert main(["check-card", *given, "--encoder", f"path:{mlm_encoder}", "--formulation", formulation]) == 0
    said = capsys.readouterr().out
    assert "cpu: vectors of 12 passages" in said and "0 of 12" in said.split("float32")[2]
    assert "bfloat16" in said and "passages/s" in said and not rates_file().exists()


def test_a_machine_without_a_card_is_refused_in_one_line_before_anything_is_fetched(monkeypatch, capsys):
    monkeypatch.setattr(probes, "cards", list)
    monkeypatch.setattr(card_check, "passages_of", lambda *_: pytest.fail("it was fetched"))
    for more in ([], ["--look"]):
        assert main(["check-card", *more]) == 1
        said = capsys.readouterr().err
        assert said.startswith("epic check-card: GPU (CUDA): none; run where") and said.count("\n") == 1


def test_rates_of_a_card_are_kept_and_the_plan_counts_with_them(a_card, cache):
    said = check_card("cuda", TINY / "docs.tsv", 3, None, "paper", 4)
    assert "NVIDIA B52" in said and str(rates_file()) in said
    speed = cards.speed_here()
    assert speed.encoding("float32") == 4e9 and speed.training("float32") == 3e9 and speed.query("float32") == 0.2
    assert "as measured on NVIDIA B52" in speed.said


def test_a_card_whose_float32_is_not_the_cpus_is_refused_and_its_rates_are_not_kept(a_card, cache):
    a_card[0] = a_card[0]._replace(lists=[Agreement(9, 2, 0), Agreement(9, 5, 1)])
    with pytest.raises(InputError, match="1 lists in float32 differ"):
        check_card("cuda", TINY / "docs.tsv", 3, None, "paper", 4)
    assert not rates_file().exists()


@pytest.mark.parametrize(
    ("capability", "known"),
    [
        ((6, 1), ["float32"]),
        ((7, 5), ["float32", "float16"]),
        ((8, 0), ["float32", "float16", "tf32", "bfloat16"]),
        (None, ["float32"]),
    ],
)
def test_a_precision_is_tried_where_a_card_has_cores_for_it(monkeypatch, capability, known):
    from epic.model import device

    monkeypatch.setattr(device, "PRECISIONS", dict.fromkeys(["float32", "float16", "tf32", "bfloat16"]))
    monkeypatch.setattr(card_check, "cards", lambda: [Card("any", capability)])
    assert precisions("cuda") == known


def test_the_first_passages_of_a_file_are_taken():
    found = passages_of(TINY / "docs.tsv", 5)
    assert list(found) == ["0", "1", "2", "3", "4"] and all(found.values())


def test_a_device_that_is_no_card_has_its_own_name():
    assert usable("cpu") == "cpu"


def test_the_encoder_is_the_one_that_the_paper_pins():
    assert pinned()["models"][0]["encoder"]["source"] == "google-bert/bert-base-uncased"


def test_the_table_has_a_line_for_each_precision():
    lines = table([Found("float32", [Agreement(9, 2, 0), Agreement(9, 5, 1)], RATES)]).splitlines()
    assert "top 10 reordered" in lines[0] and lines[1].split() == [
        "float32",
        "2",
        "of",
        "9",
        "5",
        "of",
        "9",
        "1",
        "2.0",
        "1.0",
        "5.0",
    ]
