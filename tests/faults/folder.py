"""A small experiment in a folder of its own, run to its end once; trials work on copies of it."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import yaml

from epic.core.files import sha256_of
from tests.conftest import ROOT, TINY
from tests.faults.outcome import Told

ROWS = ["results/mine/rows/bm25.json", "results/mine/rows/epic-bm25-full.json", "results/mine/rows/epic-bm25-r20.json"]
TABLE = "results/mine/table.json"


def settings(encoder: Path, collection: str) -> dict:
    """Return a copy of smoke, pointed to a folder: one model on a random encoder, two shards and three rows."""
    text = (ROOT / "workflow/experiments/smoke.yaml").read_text()
    found = yaml.safe_load(text.replace("path:workflow/resources/tiny", f"path:{collection}"))
    found["first_stages"], found["weighters"] = found["first_stages"][:1], []
    found["encoders"][0] |= {"source": f"path:{encoder}", "sha256": sha256_of(encoder / "model.safetensors")}
    found["models"], found["comparisons"] = found["models"][:1], []
    first = next(row for row in found["rows"] if row.get("id") == "bm25")
    product = next(row for row in found["rows"] if "for" in row)
    found["rows"] = [first, product | {"for": {"model": ["paper"], "first_stage": ["bm25"], "keep": ["full", 20]}}]
    found["train"] |= {"validate_every": 32, "max_validations": 3}
    found["encode"] |= {"shards": 2, "keep": [10, 20, 30]}
    return found


class Folder:
    """A working directory with an experiment `mine` in it, and with a home for ir_datasets' stores."""

    def __init__(self, path: Path, root: Path = ROOT):
        self.path, self.root = path, root

    @classmethod
    def made(cls, path: Path, encoder: Path, collection: str) -> "Folder":
        """Make a folder; collection: the folder of passages, absolute, or relative to this one."""
        (path / "experiments").mkdir(parents=True)
        (path / "experiments/mine.yaml").write_text(yaml.safe_dump(settings(encoder, collection)))
        if not Path(collection).is_absolute():
            shutil.copytree(TINY, path / collection)
        return cls(path)

    def copied(self, path: Path) -> "Folder":
        """Copy the folder with all times."""
        subprocess.run(["cp", "-a", self.path, path], check=True)
        return Folder(path, self.root)

    def environment(self, **changes) -> dict[str, str]:
        """Return the environment of a run; None removes a variable."""
        base = os.environ | {"IR_DATASETS_HOME": str(self.path / "store"), "HF_HUB_OFFLINE": "1", "VERBOSE": ""} | changes
        return {name: str(value) for name, value in base.items() if value is not None}

    def command(self, *targets, by="run") -> list[str]:
        """Return a command: by `workflow/run.sh`, as make does, or by Snakemake alone."""
        first = [self.root / "workflow/run.sh"] if by == "run" else ["snakemake"]
        return list(map(str, [*first, *targets, "--snakefile", self.root / "Snakefile", "--cores", "2"]))

    def start(self, *targets, by="run", options=None, **environment) -> subprocess.Popen:
        """Start a run, the leader of a group of processes."""
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
        return subprocess.Popen(
            self.command(*(targets or ROWS), by=by),
            cwd=self.path,
            env=self.environment(**environment),
            start_new_session=True,
            **output,
            **(options or {}),
        )

    def run(self, *targets, by="run", options=None, timeout=600, **environment) -> Told:
        """Run to the end."""
        process = self.start(*targets, by=by, options=options, **environment)
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            return Told(-1, said + "\nTraceback (most recent call last): it never ended")
        return Told(process.returncode, said)

    def results(self, *names) -> dict[str, bytes]:
        """Return what a reader of the results sees, by default all rows; without those that are missing."""
        paths = {name: self.path / name for name in names or ROWS}
        return {name: path.read_bytes() for name, path in paths.items() if path.exists()}

    def forget(self, *stages) -> None:
        """Remove what stages made, so that the next run makes it again."""
        for stage in stages:
            place = self.path / "results/mine" / stage
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    def process(self, ending: str) -> int | None:
        """Return a process that works in this folder and has a word with this ending in its command."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if os.readlink(process / "cwd") == str(self.path) and any(part.endswith(ending) for part in command):
                    return int(process.name)
            except OSError:
                continue
        return None

    def wait_for(self, run: subprocess.Popen, condition, seconds: float = 300) -> bool:
        """Wait until a condition holds; False if the run ends before."""
        deadline = time.monotonic() + seconds
        while not condition():
            if run.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def is_quiet(self, seconds: float = 10) -> bool:
        """Tell whether no process works in this folder any more, after a short while at most."""
        deadline = time.monotonic() + seconds
        while any(self.process(ending) for ending in (".py", "snakemake", "java")):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True
