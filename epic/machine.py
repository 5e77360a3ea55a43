"""The machine that something was measured on."""

import os
import platform
import subprocess
from pathlib import Path


def machine() -> dict:
    """What a reader must know to judge milliseconds."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "allowed_cores": len(os.sched_getaffinity(0)),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": list(os.getloadavg()),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "gpu": gpu_names(),
        "system": platform.platform(),
        "environment": {key: os.environ[key] for key in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "JAVA_HOME") if key in os.environ},
    }


def gpu_names() -> list[str]:
    """The graphics cards, as NVIDIA's own tool calls them; none where it is not installed."""
    try:
        asked = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout.split("\n")[:-1]
    except (OSError, subprocess.SubprocessError):
        return []


def _first_line(path) -> str | None:
    return Path(path).read_text(encoding="utf-8").splitlines()[0].strip() if Path(path).exists() else None


def cpu_name() -> str:
    """The processor, as Linux calls it."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        return next((line.split(":", 1)[1].strip() for line in stream if line.startswith("model name")), "unknown")
