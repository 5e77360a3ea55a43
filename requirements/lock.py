"""The lock: what uv resolves from pyproject.toml, in two files, and the same versions for conda. Standard library only.

requirements/common.txt   every package, with hashes, but torch and what only its CUDA build needs
requirements/cuda.txt     these, as PyPI has them
requirements/cpu.txt      torch's CPU build; written by hand, since PyPI does not have it
environment.yml           the versions for conda

python requirements/lock.py lock [option of uv ...]      resolve, keeping the versions that are locked and still fit
python requirements/lock.py conda                        write environment.yml
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COMPILE = ["uv", "pip", "compile", "pyproject.toml", "--extra", "test", "--universal", "--python-version", "3.11"]
COMPILE += ["--generate-hashes", "--no-annotate", "--no-header", "--quiet"]
HERE_ALWAYS = re.compile(r"(platform_\w+|sys_platform|implementation_name) [!=]= '\w+'|python_full_version < '3\.1[3-9]'")
ONLY_CUDA = re.compile(r"torch==|triton==|nvidia-|cuda-")
CONDA = """\
# Generated from the lock by `make environment.yml`; do not edit.
name: epic-reproduced
channels: [conda-forge, nodefaults]
dependencies:
  - python=3.11
  - openjdk=21
  - pip
  - pip:
"""


def packages(text: str) -> list[str]:
    """Split a file of requirements into one text per package, its hashes included."""
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return re.findall(r"(?m)^\S.*(?:\n[ ].*)*\n", text)


def plain(package: str) -> str:
    """Leave out the conditions that hold wherever this lock is for."""
    first, _, hashes = package.partition("\n")
    pinned, _, marker = first.removesuffix(" \\").partition(" ; ")
    conditions = " and ".join(part for part in marker.split(" and ") if not HERE_ALWAYS.fullmatch(part))
    return f"{pinned}{' ; ' if conditions else ''}{conditions} \\\n{hashes}"


def pin(package: str) -> str:
    """Return the first line of a package, without its hashes."""
    return package.partition("\n")[0].removesuffix(" \\")


def lock(options: list[str]) -> None:
    """Let uv resolve, and write its answer in two files."""
    common, cuda, cpu = (HERE / f"{name}.txt" for name in ("common", "cuda", "cpu"))
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.txt")  # uv keeps the versions that it finds in the file it writes
        whole.write_text("".join(path.read_text() for path in (common, cuda) if path.exists()))
        subprocess.run([*COMPILE, *options, "--output-file", whole], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        found = [plain(package) for package in packages(whole.read_text())]
    common.write_text("".join(package for package in found if not ONLY_CUDA.match(package)))
    cuda.write_text("".join(package for package in found if ONLY_CUDA.match(package)))
    torch = next(pin(package) for package in found if package.startswith("torch=="))
    if pin(packages(cpu.read_text())[0]) != f"{torch}+cpu":
        sys.exit(f"write {torch}+cpu and the hashes of its wheels for Python 3.11 and 3.12 into {cpu.relative_to(ROOT)}")


def conda() -> None:
    """Write the versions for conda, without hashes; which build of torch it gets is what its pip finds."""
    cuda = [package for package in packages((HERE / "cuda.txt").read_text()) if package.startswith("torch==")]
    pins = sorted(map(pin, [*packages((HERE / "common.txt").read_text()), *cuda]))
    (ROOT / "environment.yml").write_text(CONDA + "".join(f"      - {pin}\n" for pin in pins))


if __name__ == "__main__":
    if sys.argv[1] == "lock":
        lock(sys.argv[2:])
    conda()
