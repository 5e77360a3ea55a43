"""Disks that are full, have no inodes left, cannot be written, or lose what was not synced when the power is cut."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.faults.folder import Folder
from tests.faults.outcome import NOT_TRIED, SILENT, Outcome, Trial, judged

SPACE, INODES = "space", "inodes"
MEGABYTE = 1 << 20


def trials(base: Folder, fresh: Folder, place: Path) -> list[Trial]:
    """List all trials; base: a finished run, fresh: the same before any run."""
    whole, found = base.results(), []
    for lack in (SPACE, INODES):
        for stage in ("index", "retrieve", "train", "encode", "rerank", "evaluate"):
            doing = partial(full_results, base, place / f"full-{lack}-{stage}", whole, lack, stage)
            found.append(Trial(f"results: no {lack}", stage, doing))
        for where in ("folder", "HOME", "TMPDIR", "IR_DATASETS_HOME"):
            doing = partial(full_place, fresh, place / f"full-{lack}-{where}", whole, lack, where)
            found.append(Trial(f"no {lack} elsewhere", where, doing))
    found.append(Trial("full while training", "between validations", partial(full_training, base, place / "training", whole)))
    for number, stage in enumerate(("data", "index", "train", "encode", "prune", "rerank", "evaluate", "rows")):
        found.append(Trial("power cut", f"after {stage}", partial(power_cut, fresh, place / f"power-{number}", whole, stage)))
    return found


@contextmanager
def mounted(path: Path, *arguments) -> Iterator[None]:
    """Mount something at a folder; unmount it afterwards, also if processes are still in it."""
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *map(str, arguments), path], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)


def may_mount(place: Path) -> bool:
    """Tell whether this process may mount."""
    try:
        with mounted(place / "mounted", "-t", "tmpfs", "tmpfs"):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def size_of(path: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def names_in(path: Path) -> int:
    return sum(1 for _ in path.rglob("*"))


@contextmanager
def small(path: Path, content: Path | None, lack: str, spare: int) -> Iterator[None]:
    """Mount a disk at `path` with a copy of a folder on it, and with `spare` bytes or names left."""
    options = f"size={(size_of(content) if content else 0) + spare}" if lack == SPACE else "size=2g"
    if lack == INODES:
        options += f",nr_inodes={(names_in(content) if content else 0) + spare + 1}"
    with mounted(path, "-t", "tmpfs", "-o", options, "tmpfs"):
        if content:
            subprocess.run(["cp", "-a", f"{content}/.", path], check=True)
        yield


def enlarge(path: Path) -> None:
    """Free space and names on a small disk."""
    subprocess.run(["mount", "-o", "remount,size=2g,nr_inodes=1m", path], check=True, capture_output=True)


FORGOTTEN = {
    "index": ("index", "retrieve", "train"),
    "retrieve": ("retrieve", "train"),
    "train": ("train",),
    "encode": ("encode", "prune"),
    "rerank": ("rerank",),
    "evaluate": ("evaluate",),
}
SPARE = {SPACE: 160 << 10, INODES: 6}


def full_results(base: Folder, path: Path, whole: dict, lack: str, stage: str) -> Outcome:
    """Let a disk become full while a stage writes its results; then free space and run again."""
    folder = base.copied(path)
    folder.forget(*FORGOTTEN[stage], "rerank", "evaluate", "rows")
    content = folder.path / "content"
    (folder.path / "results").rename(content)
    with small(folder.path / "results", content, lack, SPARE[lack]):
        return until_it_fits(folder, whole, folder.path / "results")


def until_it_fits(folder: Folder, whole: dict, disk: Path, **environment) -> Outcome:
    """Run on a full disk, then with space; both must be right or refused."""
    told = folder.run(**environment)
    if told.code:
        first = judged(told, equal=True)
        if first.verdict != "survived":
            return first
    elif folder.results() != whole:
        return Outcome(SILENT, "other results on a full disk, and no word")
    enlarge(disk)
    again = judged(folder.run(**environment), folder.results() == whole)
    again = again if again.verdict != "survived" or folder.results() == whole else Outcome(SILENT, f"not repaired: {again.words}")
    return again._replace(words=f"{told.screen.strip().splitlines()[-1]} | then: {again.words}")


def full_place(fresh: Folder, path: Path, whole: dict, lack: str, where: str) -> Outcome:
    """Begin with a disk that has almost nothing left, in one place; then free space and run again."""
    folder = fresh.copied(path)
    if where == "folder":  # Snakemake's own records, too
        moved = folder.path.with_name(folder.path.name + "-content")
        folder.path.rename(moved)
        with small(folder.path, moved, lack, (1 << 20) if lack == SPACE else 60):
            return until_it_fits(folder, whole, folder.path)
    disk = folder.path / "disk"
    with small(disk, None, lack, 4096 if lack == SPACE else 1):
        return until_it_fits(folder, whole, disk, **{where: disk})


def full_training(base: Folder, path: Path, whole: dict) -> Outcome:
    """Fill the disk once training has been validated for the first time; then free space: it goes on, to the same weights."""
    folder = base.copied(path)
    folder.forget("train", "encode", "prune", "weigh", "tune", "rerank", "evaluate", "rows")
    content = folder.path / "content"
    (folder.path / "results").rename(content)
    disk = folder.path / "results"
    with small(disk, content, SPACE, 64 * MEGABYTE):
        run = folder.start()
        if not folder.wait_for(run, lambda: list(disk.glob("mine/state/train/*/*/iteration-00001"))):
            return Outcome(SILENT, f"training was never validated: {run.communicate()[0][-500:]}")
        fill(disk / "filling")
        said, _ = run.communicate(timeout=600)
        log = (disk / "mine/logs/train/paper.log").read_text()
        if not run.returncode:
            return Outcome(SILENT, "training ended before the disk was full")
        if "the state of training cannot be saved" not in said and "the disk is full" not in said:
            return Outcome("traceback", f"{said[-700:]} {log[-300:]}")
        (disk / "filling").unlink()
        told = folder.run()
        log = (disk / "mine/logs/train/paper.log").read_text()
        if told.code == 0 and "going on after iteration" not in log:
            return Outcome(SILENT, "training began anew")
        return judged(told, folder.results() == whole)._replace(words=said.strip().splitlines()[-1])


def fill(path: Path) -> None:
    """Write until a disk is full."""
    with open(path, "wb", buffering=0) as stream:
        for size in (MEGABYTE, 4096):
            try:
                while stream.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def power_cut(fresh: Folder, path: Path, whole: dict, stage: str) -> Outcome:
    """Run on a disk in a file, copy that file without a sync while the run goes on, and go on with the copy."""
    path.mkdir(parents=True)
    image, copy, disk, after = (path / name for name in ("image", "copy", "disk", "after"))
    with open(image, "wb") as stream:
        stream.truncate(256 * MEGABYTE)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
    try:
        # Writes to the image as late as a disk would see them; metadata every second, as on a busy disk.
        with mounted(disk, "-o", "loop,commit=1", image):
            subprocess.run(["cp", "-a", f"{fresh.path}/.", disk], check=True)
            os.sync()
            folder = Folder(disk, fresh.root)
            run = folder.start()
            reached = folder.wait_for(run, lambda: any((disk / "results/mine" / stage).glob("*")))
            time.sleep(1.2)  # names reach the disk before data does
            shutil.copyfile(image, copy)
            ended = run.poll()
            if ended is None:
                os.killpg(run.pid, 9)
            run.communicate(timeout=60)
        if not reached and ended is None:
            return Outcome(SILENT, f"{stage} never began")
        with mounted(after, "-o", "loop", copy):
            folder = Folder(after, fresh.root)
            return judged(folder.run(), folder.results() == whole)
    except (OSError, subprocess.CalledProcessError) as error:
        return Outcome(NOT_TRIED, f"{error} {getattr(error, 'stderr', '')}")
