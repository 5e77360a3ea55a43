"""Disks that are full, have no inodes left, cannot be written, or lose what was not synced when the power is cut."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.faults.folder import Folder
from tests.faults.outcome import NOT_TRIED, SILENT, SURVIVED, Outcome, Told, Trial, judged

SPACE, INODES = "space", "inodes"
MEGABYTE = 1 << 20
LARGE = "size=32g,nr_inodes=10m"  # of a disk in memory, which takes what is written


def trials(base: Folder, fresh: Folder, place: Path) -> list[Trial]:
    """List all trials; base: a finished run, fresh: the same before any run."""
    whole, found = base.results(), []
    for lack in (SPACE, INODES):
        for stage in FORGOTTEN:
            doing = partial(full_results, base, place / f"full-{lack}-{stage}", whole, lack, stage)
            found.append(Trial(f"results: no {lack}", stage, doing))
        doing = partial(full_results, base, place / f"all-{lack}", whole, lack, "rerank", all_of_it=True)
        found.append(Trial(f"the whole folder: no {lack}", "rerank", doing))
        for where in ("HOME", "TMPDIR", "IR_DATASETS_HOME"):
            doing = partial(full_place, base, place / f"full-{lack}-{where}", whole, lack, where)
            found.append(Trial(f"no {lack} elsewhere", where, doing))
    for where in ("HOME", "TMPDIR"):
        found.append(Trial("read-only", where, partial(read_only, base, place / f"read-only-{where}", whole, where)))
    found.append(Trial("full while training", "between validations", partial(full_training, base, place / "training", whole)))
    for stage in ("data", "encode", "evaluate", "rows"):
        found.append(Trial("power cut", f"in {stage}", partial(power_cut, base, place / f"power-{stage}", whole, stage)))
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


SPARE = {SPACE: 12, INODES: 3}  # enough for a log
FORGOTTEN = {
    "index": ("index", "retrieve", "train", "encode", "prune", "weigh", "tune"),
    "encode": ("encode", "prune"),
    "weigh": ("weigh", "tune"),
    "rerank": (),
    "evaluate": (),
}


def full_results(base: Folder, path: Path, whole: dict, lack: str, stage: str, all_of_it: bool = False) -> Outcome:
    """Let a disk become full when a stage begins, of results or of the whole folder; then free space and run again."""
    folder = base.copied(path)
    folder.forget(*FORGOTTEN[stage], "rerank", "evaluate", "rows")
    disk = folder.path if all_of_it else folder.path / "results"
    content = disk.with_name(disk.name + "-content")
    disk.rename(content)
    with mounted(disk, "-t", "tmpfs", "-o", LARGE, "tmpfs"):
        subprocess.run(["cp", "-a", f"{content}/.", disk], check=True)
        run = folder.start()
        if not folder.wait_for(run, lambda: folder.process(f".{stage}.py")):
            return Outcome(SILENT, f"{stage} never began: {run.communicate()[0][-500:]}")
        shrink(disk, lack, 2 if all_of_it else SPARE[lack])
        said, _ = run.communicate(timeout=600)
        return until_it_fits(folder, whole, disk, Told(run.returncode, said))


def shrink(disk: Path, lack: str, spare: int = 2) -> None:
    """Leave almost nothing on a disk that was large: a few blocks, or names of files."""
    found = os.statvfs(disk)
    blocks, names = found.f_blocks - found.f_bfree, found.f_files - found.f_ffree
    options = f"size={(blocks + spare) * found.f_frsize}" if lack == SPACE else f"nr_inodes={names + spare}"
    subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True, capture_output=True)


def until_it_fits(folder: Folder, whole: dict, disk: Path, told: Told, **environment) -> Outcome:
    """Judge a run on a full disk, then one with space: it must be right."""
    last = next(reversed(told.screen.strip().splitlines()), "")
    if told.code:
        first = judged(told, equal=True)
        if first.verdict != SURVIVED:
            return first
    elif folder.results() != whole:
        return Outcome(SILENT, "other results on a full disk, and no word")
    subprocess.run(["mount", "-o", f"remount,{LARGE}", disk], check=True, capture_output=True)
    again = folder.run(**environment)
    if again.code == 0 and folder.results() == whole:
        return Outcome(SURVIVED, f"{last} | then the same results")
    return Outcome(SILENT, f"{last} | not repaired: {again.screen[-700:]}")


def full_place(fresh: Folder, path: Path, whole: dict, lack: str, where: str) -> Outcome:
    """Begin with a disk that has almost nothing left, where a variable points to; then free space and run again."""
    folder = fresh.copied(path)
    folder.forget("rerank", "evaluate", "rows")
    disk = folder.path / "disk"
    options = "size=4096" if lack == SPACE else "size=2g,nr_inodes=2"
    with mounted(disk, "-t", "tmpfs", "-o", options, "tmpfs"):
        told = folder.run(**{where: disk})
        return until_it_fits(folder, whole, disk, told, **{where: disk})


def read_only(base: Folder, path: Path, whole: dict, where: str) -> Outcome:
    """Run where a variable points to a disk that can only be read."""
    folder = base.copied(path)
    folder.forget("retrieve/bm25/test.run", "encode", "prune", "rerank", "evaluate", "rows")
    disk = folder.path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "ro", "tmpfs"):
        return judged(folder.run(**{where: disk}), folder.results() == whole)


def full_training(base: Folder, path: Path, whole: dict) -> Outcome:
    """Fill the disk once training has been validated for the first time; then free space: it goes on, to the same weights."""
    folder = base.copied(path)
    folder.forget("train", "encode", "prune", "weigh", "tune", "rerank", "evaluate", "rows")
    disk, content = folder.path / "results", folder.path / "content"
    disk.rename(content)
    with mounted(disk, "-t", "tmpfs", "-o", LARGE, "tmpfs"):
        subprocess.run(["cp", "-a", f"{content}/.", disk], check=True)
        run = folder.start()
        if not folder.wait_for(run, lambda: list(disk.glob("mine/state/train/*/*/iteration-00001"))):
            return Outcome(SILENT, f"training was never validated: {run.communicate()[0][-500:]}")
        shrink(disk, SPACE)
        said, _ = run.communicate(timeout=600)
        log = (disk / "mine/logs/train/paper.log").read_text()
        if not run.returncode:
            return Outcome(SILENT, "training ended before the disk was full")
        if "the state of training cannot be saved" not in said and "the disk is full" not in said:
            return Outcome("traceback", f"{said[-700:]} {log[-300:]}")
        subprocess.run(["mount", "-o", f"remount,{LARGE}", disk], check=True, capture_output=True)
        told = folder.run()
        log = (disk / "mine/logs/train/paper.log").read_text()
        if told.code == 0 and "going on after iteration" not in log:
            return Outcome(SILENT, "training began anew")
        return judged(told, folder.results() == whole)._replace(words=said.strip().splitlines()[-1])


CUT = {  # what is made again, by the stage after which the power is cut
    "data": ("data", "expand", "index", "retrieve", "triples", "train", "encode", "prune", "weigh", "tune"),
    "encode": ("encode", "prune"),
    "evaluate": (),
    "rows": (),
}


def power_cut(base: Folder, path: Path, whole: dict, stage: str) -> Outcome:
    """Run on a disk in a file, copy that file without a sync while the run goes on, and go on with the copy."""
    path.mkdir(parents=True)
    image, copy, disk, after = (path / name for name in ("image", "copy", "disk", "after"))
    try:
        with open(image, "wb") as stream:
            stream.truncate(8192 * MEGABYTE)  # as much as the run asks for; a file with holes
        subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", image], check=True)
        with mounted(disk, "-o", "loop,commit=1,noauto_da_alloc", image):  # names reach the disk each second, data later
            subprocess.run(["cp", "-a", f"{base.path}/.", disk], check=True)
            folder = Folder(disk, base.root)
            folder.forget(*CUT[stage], "rerank", "evaluate", "rows")
            os.sync()
            run = folder.start()
            reached = folder.wait_for(run, lambda: any((disk / "results/mine" / stage).glob("*")))
            time.sleep(1.5)
            subprocess.run(["cp", "--sparse=always", image, copy], check=True)
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
            said, _ = run.communicate(timeout=60)
        if not reached:
            return Outcome(SILENT, f"{stage} never began: {said[-500:]}")
        with mounted(after, "-o", "loop", copy):
            folder = Folder(after, base.root)
            return judged(folder.run(), folder.results() == whole)
    except subprocess.CalledProcessError as error:
        return Outcome(NOT_TRIED, f"{error} {error.stderr or ''}")
