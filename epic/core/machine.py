"""The machine that something was measured on."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import NamedTuple


def machine() -> dict:
    """Return the facts that a reader needs to judge milliseconds; nothing that names the machine, its user or a place on it."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "allowed_cores": usable_cores(),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": list(os.getloadavg()),
        "memory_gb": round(total_memory() / 1e9, 1),
        "gpu": [card.name for card in cards()],
        "system": platform.platform(),
    }


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def total_memory() -> int:
    """Return the bytes of memory, or of this container's share."""
    limit, there = Path("/sys/fs/cgroup/memory.max"), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    allowed = limit.read_text().strip() if limit.exists() else "max"
    return min(there, int(allowed)) if allowed.isdigit() else there


class Card(NamedTuple):
    """A graphics card; facts that its driver does not tell are None."""

    name: str
    capability: tuple[int, int] | None = None  # the generation of its instructions, as (7, 5)
    memory_mb: int | None = None


def cards() -> list[Card]:
    """List the graphics cards, as NVIDIA's own tool knows them; none if it is not installed."""
    lines = _asked("name,compute_cap,memory.total")
    if lines is None:
        return [Card(name) for name in _asked("name") or []]
    return [_card(*line.rsplit(", ", 2)) for line in lines]


def _card(name: str, capability: str, memory: str) -> Card:
    """Make a card from the tool's answers, some of which are [N/A]."""
    generation = re.fullmatch(r"(\d+)\.(\d+)", capability)
    return Card(name, generation and (int(generation[1]), int(generation[2])), int(memory) if memory.isdigit() else None)


def _asked(what: str) -> list[str] | None:
    """Return a line for each card, or None if the tool does not answer or the driver does not know the question."""
    try:
        command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits"]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None


def _first_line(path) -> str | None:
    return Path(path).read_text(encoding="utf-8").splitlines()[0].strip() if Path(path).exists() else None


def cpu_name() -> str:
    """Return the processor's name, as Linux gives it."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        return next((line.split(":", 1)[1].strip() for line in stream if line.startswith("model name")), "unknown")
