"""The machine: its cards as NVIDIA's tool tells of them, its memory, its processor."""

import io
import json
import os

import pytest

from epic.core import machine
from epic.core.machine import Card, cards, total_memory


def test_memory_of_this_machine_is_found():
    assert 1e8 < total_memory() < 1e14


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (
            "echo 'NVIDIA A100, 80GB PCIe, 8.0, 81920'; echo 'Tesla T4, 7.5, 15360'",
            [("NVIDIA A100, 80GB PCIe", (8, 0), 81_920), ("Tesla T4", (7, 5), 15_360)],
        ),
        ('case "$1" in *compute_cap*) exit 2 ;; esac; echo "Tesla K80"', [("Tesla K80", None, None)]),
        ("echo 'NVIDIA GB10, 12.1, [N/A]'; echo 'A card, [N/A], 8192'", [("NVIDIA GB10", (12, 1), None), ("A card", None, 8192)]),
        ("exit 9", []),
    ],
)
def test_cards_as_nvidias_tool_tells_of_them(monkeypatch, tmp_path, script, found):
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert cards() == found


@pytest.mark.parametrize(
    ("limit", "found"),
    [("512000000\n", 512_000_000), ("max\n", None), ("9223372036854771712\n", None), ("", None), (None, None)],
)
def test_a_containers_share_is_all_the_memory_there_is(monkeypatch, tmp_path, limit, found):
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
    monkeypatch.setattr(machine, "Path", lambda name: tmp_path / name.rpartition("/")[2])
    assert machine.total_memory() == (found or there)


@pytest.mark.parametrize(
    ("text", "name"),
    [("processor\t: 0\nmodel name\t: AMD EPYC: 7B13 \nmodel name\t: other\n", "AMD EPYC: 7B13"), ("processor\t: 0\n", "unknown"), ("", "unknown")],
)  # fmt: skip
def test_the_processor_is_called_what_linux_calls_it(monkeypatch, text, name):
    monkeypatch.setattr(machine, "open", lambda path, encoding: io.StringIO(text), raising=False)
    assert machine.cpu_name() == name


def test_what_a_reader_must_know_can_be_written_down(monkeypatch):
    monkeypatch.setattr(machine, "cards", lambda: [Card("Tesla T4", (7, 5), 15_360), Card("Tesla K80")])
    monkeypatch.setattr(machine, "total_memory", lambda: 16_384_000_000)
    monkeypatch.setattr(machine, "_first_line", {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}.get)
    found = json.loads(json.dumps(machine.machine()))
    assert found["gpu"] == ["Tesla T4", "Tesla K80"] and found["memory_gb"] == 16.4 and found["governor"] == "powersave"
    assert 1 <= found["allowed_cores"] <= found["cores"] and len(found["load"]) == 3


def test_a_machine_without_a_governor_has_none(tmp_path):
    assert machine._first_line(tmp_path / "scaling_governor") is None
    (tmp_path / "scaling_governor").write_text("performance\n")
    assert machine._first_line(tmp_path / "scaling_governor") == "performance"


def test_without_nvidias_tool_there_are_no_cards(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cards() == []
