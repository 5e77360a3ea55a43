"""The Makefile: its targets, what set-up installs and refuses, and a folder whose name has blanks and umlauts."""

import os
import shutil
import subprocess
import sys

import pytest

from epic.core.run_lock import release, take
from tests.conftest import ROOT, copy_repository, link_environment, snakemake

PYTHON = """\
#!/bin/sh
# Stands for Python, pip and uv: writes down how it was called.
echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in
    "-m venv --clear "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
    *--dry-run*) exit "${NO_CPU:-0}" ;;
    "pip install "*) exit "${NO_UV:-0}" ;;
esac
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with what set-up needs; its name has blanks and umlauts."""
    folder = tmp_path / "ein Ordner äöü"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    return folder


@pytest.fixture
def programs(folder):
    """Stand-ins for Python and uv."""
    for name in ("python3.11", "uv"):
        path = folder / "programs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PYTHON)
        path.chmod(0o755)
    return path.parent


def make(folder, *arguments, **environment):
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def set_up(folder, programs, *arguments, **environment):
    """Run `make setup` with the stand-ins; returns the run, and the calls that install from the lock, shortened."""
    path = f"{programs}:{os.environ['PATH']}"
    run = make(
        folder, "setup", f"PYTHON={programs / 'python3.11'}", *arguments, PATH=path, CALLS=str(folder / "calls"), **environment
    )
    calls = (folder / "calls").read_text().splitlines()
    files = [call.split()[0] + "".join(part.split("/")[-1] for part in call.split(" -r")[1:]) for call in calls if " -r " in call]
    assert all("--require-hashes" in call and "--no-deps" in call for call in calls if " -r " in call)
    return run, files


def test_another_python_is_refused_in_one_clear_line(folder):
    python = folder / "python3.9"
    python.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.18" && exit 0\nexit 1\n')
    python.chmod(0o755)
    run = make(folder, f"PYTHON={python}", "smoke")
    assert run.returncode and "need Python 3.11 or 3.12" in run.stdout and "is Python 3.9.18" in run.stdout
    assert not (folder / ".venv").exists()


def test_the_cpu_build_is_taken_where_pip_finds_it_else_the_one_of_pypi(folder, programs):
    run, calls = set_up(folder, programs)
    assert run.returncode == 0 and (folder / ".venv" / ".ready").read_text() == "cpu\n"
    assert calls == ["pythoncpu.txt", "uvsetuptools.txt", "uvcommon.txtcpu.txt"]
    (folder / ".venv" / ".ready").unlink()
    run, calls = set_up(folder, programs, NO_CPU="1")
    assert run.returncode == 0 and (folder / ".venv" / ".ready").read_text() == "cuda\n"
    assert calls[3:] == ["pythoncpu.txt", "uvsetuptools.txt", "uvcommon.txtcuda.txt"]


def test_a_build_can_be_asked_for_and_is_changed_later(folder, programs):
    assert set_up(folder, programs, "TORCH=cuda")[1] == ["uvsetuptools.txt", "uvcommon.txtcuda.txt"]
    run, calls = set_up(folder, programs, "TORCH=cpu")
    assert calls[-1] == "uvcommon.txtcpu.txt" and (folder / ".venv" / ".ready").read_text() == "cpu\n"
    assert set_up(folder, programs)[1] == calls == set_up(folder, programs, "TORCH=cpu")[1]  # nothing is installed again
    run, _ = set_up(folder, programs, "TORCH=rocm")
    assert run.returncode and "TORCH is cpu or cuda, not rocm" in run.stdout


def test_a_cpu_build_that_pip_does_not_find_is_said_with_the_remedy(folder, programs):
    run, _ = set_up(folder, programs, "TORCH=cpu", NO_CPU="1")
    assert run.returncode and "pip does not find the CPU build" in run.stdout and "PIP_EXTRA_INDEX_URL" in run.stdout
    assert not (folder / ".venv" / ".ready").exists()


def test_pip_installs_what_uv_cannot_and_says_so_once(folder, programs):
    run, calls = set_up(folder, programs, NO_UV="1")
    assert run.returncode == 0 and run.stdout.count("uv could not install") == 1
    assert calls == ["pythoncpu.txt", "uvsetuptools.txt", "pythonsetuptools.txt", "pythoncommon.txtcpu.txt"]


def test_the_environment_follows_the_lock(folder, programs):
    _, calls = set_up(folder, programs)
    os.utime(folder / ".venv" / ".ready", (1, 1))
    assert len(set_up(folder, programs)[1]) == 2 * len(calls)


def test_help_lists_every_target(folder):
    run = make(folder, "help")
    assert run.returncode == 0
    for target in ("smoke", "test", "setup", "lint", "unit", "paper", "paper-plan", "plan", "clean", "lock", "environment.yml"):
        assert f"make {target} " in run.stdout


def test_environment_yml_is_what_make_would_write(folder):
    assert make(folder, "environment.yml").returncode == 0
    assert (folder / "environment.yml").read_text() == (ROOT / "environment.yml").read_text()


def test_a_folder_with_blanks_and_umlauts_is_like_any_other(tmp_path):
    """Java included, and in a locale that knows no umlauts; `python -m`, since the linked script names the Python it was made for."""
    folder = copy_repository(tmp_path / "ein Ordner äöü")
    link_environment(folder)
    run = make(folder, "plan", "TARGET=results/smoke/table.md", LC_ALL="C")
    assert run.returncode == 0 and "total" in run.stdout, run.stdout
    command = [folder / ".venv" / "bin" / "python", "-m", "snakemake", "results/smoke/retrieve/bm25/test.run", "--cores", "2"]
    environment = os.environ | {"LC_ALL": "C"}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert (folder / "results" / "smoke" / "retrieve" / "bm25" / "test.run").stat().st_size


def test_a_moved_folder_runs_with_the_environment_that_moved_with_it(tmp_path):
    """Its scripts name a Python that is not there any more; those of a copy would run the original."""
    folder = copy_repository(tmp_path / "moved")
    link_environment(folder)
    scripts = folder / ".venv" / "bin"
    scripts.unlink()
    scripts.mkdir()
    (scripts / "python").symlink_to(sys.executable)
    for name in ("snakemake", "epic"):
        (scripts / name).write_text("#!/no/longer/here/.venv/bin/python\n")
        (scripts / name).chmod(0o755)
    run = make(folder, "plan", "TARGET=results/smoke/table.md")
    assert run.returncode == 0 and "total" in run.stdout, run.stdout
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "VERBOSE": ""}
    environment.pop("PYTHONPATH", None)
    command = [folder / "workflow" / "run.sh", "results/smoke/data/manifest.json", "--cores", "1"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0 and "1 job done" in run.stderr, run.stderr


def test_nothing_is_cleaned_under_a_run_that_is_at_work(tmp_path, monkeypatch):
    folder = copy_repository(tmp_path / "repository")
    link_environment(folder)
    monkeypatch.chdir(folder)
    (folder / "results" / "smoke").mkdir(parents=True)
    take("results")
    run = make(folder, "clean")
    assert run.returncode and f"at work in this folder: process {os.getpid()}" in run.stdout
    assert (folder / "results" / "smoke").exists() and (folder / "results" / ".run.lock").exists()
    release("results")
    assert make(folder, "clean").returncode == 0 and not (folder / "results" / "smoke").exists()


@pytest.mark.parametrize("home", [None, "/nonexistent/home", "/proc"])
def test_a_home_that_is_missing_or_cannot_be_written_is_no_reason_not_to_run(tmp_path, home):
    environment = os.environ | {"HOME": home or "", "VERBOSE": ""}
    environment = {name: value for name, value in environment.items() if name != "XDG_CACHE_HOME" and (home or name != "HOME")}
    command = [ROOT / "workflow/run.sh", "results/smoke/data/manifest.json", "--snakefile", ROOT / "Snakefile", "--cores", "1"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0 and "1 job done" in run.stderr, run.stderr


def test_the_snakefile_of_the_catalogue_plans_the_same_jobs(tmp_path):
    def stats(*arguments):
        run = snakemake("--dryrun", "--quiet", "rules", *arguments, directory=tmp_path)
        assert run.returncode == 0, run.stdout
        return run.stdout.split("Job stats:")[1].split("total")[0]

    assert stats() == stats("--snakefile", ROOT / "workflow" / "Snakefile")
