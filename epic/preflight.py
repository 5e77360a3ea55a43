"""Can this machine run what was asked for? Answered in seconds, before any job."""

import os
import shutil
import socket
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from epic.files import InputError
from epic.java import java_home
from epic.machine import gpu_names

IR_DATASETS_HOSTS = ("msmarco.z22.web.core.windows.net",)
HUGGING_FACE = "huggingface.co"
SECONDS = 5.0


class Check(NamedTuple):
    """One line of the preflight table; `remedy` is empty where the need is met."""

    need: str
    found: str
    remedy: str


class Jobs(NamedTuple):
    """What would run: names of rules, and the GPUs that single jobs ask for."""

    rules: set[str]
    gpus: set[int]


def checks(settings: dict, jobs: Jobs, folder) -> list[Check]:
    """What the jobs of an experiment need from this machine; `folder` is where they write."""
    found = [gpu()] if any(jobs.gpus) else []
    found += networks(sorted(set(_hosts(settings, jobs.rules))))
    if jobs.rules & {"data", "expand", "index", "encode", "prune"}:
        found.append(disk(settings["compute"]["disk_gb"], folder))
    if jobs.rules & {"index", "retrieve", "latency", "interpret"}:
        found.append(java())
    return found


def _hosts(settings: dict, rules: set[str]):
    """Hosts that the jobs would fetch from."""
    datasets = [settings["data"]["documents"]] if "data" in rules else []
    datasets += [query_set["dataset"] for query_set in settings["query_sets"]] if "queries" in rules else []
    datasets += [settings["triples"]["dataset"]] if "triples" in rules and "dataset" in settings["triples"] else []
    datasets += settings["statistics"]["queries"] if "statistics" in rules else []
    if any(not dataset.startswith(("path:", "made:")) for dataset in datasets):
        yield from IR_DATASETS_HOSTS
    if "encoder" in rules:
        sources = [model["encoder"]["source"] for model in settings["models"]]
        if any(not source.startswith(("path:", "pypi:")) for source in sources):
            yield HUGGING_FACE
    if "fetch" in rules:
        yield from (urlsplit(download["urls"][0]).hostname for download in settings["downloads"])


def gpu() -> Check:
    """An NVIDIA GPU, asked of its driver: importing torch would take seconds."""
    if names := gpu_names():
        return Check("GPU (CUDA)", names[0], "")
    return Check("GPU (CUDA)", "none", "run on a machine with an NVIDIA GPU, or set compute.device: cpu (weeks instead of hours)")


def networks(hosts: list[str]) -> list[Check]:
    """Hosts to download from, all asked at once; nothing is asked where a proxy does the asking."""
    if any(os.environ.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")):
        return [Check(f"network: {host}", "through a proxy, not checked", "") for host in hosts]
    answers: dict[str, str] = {}

    def connect(host):
        try:
            socket.create_connection((host, 443), SECONDS).close()
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
    said = {host: answers.get(host, f"no answer in {SECONDS:g} s") for host in hosts}
    remedy = {"reachable": ""}
    return [Check(f"network: {host}", what, remedy.get(what, "run where the host can be reached")) for host, what in said.items()]


def disk(gigabytes: float, folder) -> Check:
    """Free space where results are written, beside what an earlier run has written there already."""
    written = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e9
    missing = max(0.0, gigabytes - written)
    existing = Path(folder).resolve()
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free / 1e9
    remedy = "" if free >= missing else "free some, or run with --directory on a larger disk"
    return Check(f"disk: {missing:.3g} GB free", f"{free:.0f} GB", remedy)


def java() -> Check:
    """Java 21 or newer."""
    try:
        return Check("Java 21 or newer", str(java_home()), "")
    except InputError as error:
        what, _, remedy = str(error).partition("; ")
        return Check("Java 21 or newer", what, remedy)


def table(found: list[Check]) -> str:
    """Need, found and remedy, in columns."""
    rows = [("need", "found", "remedy"), *((check.need, check.found, check.remedy or "ok") for check in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"  {need:<{widths[0]}}  {what:<{widths[1]}}  {remedy}" for need, what, remedy in rows)


def refusal(experiment: str, found: list[Check]) -> str | None:
    """Why the experiment cannot start here, or None where every need is met."""
    if not any(check.remedy for check in found):
        return None
    hint = "" if experiment == "smoke" else "\n`make smoke` runs the same pipeline offline, without a GPU, in minutes."
    return f"{experiment} cannot run on this machine:\n{table(found)}{hint}"
