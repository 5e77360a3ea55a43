"""Run all faults and print a table: `python -m tests.faults [part ...]`, or `make faults FAULTS="kills disks"`.

Parts: kills, disks, places, archives, damage. Two trials run at a time. The exit code is 1 if one was silent or ended in a
traceback; those are listed above the table.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conftest import ROOT, TINY, write_encoder
from tests.faults import archives, damage, disks, kills, places
from tests.faults.folder import ROWS, TABLE, Folder
from tests.faults.outcome import NOT_TRIED, SILENT, SURVIVED, TRACEBACK, Outcome, Trial, table

PARTS = ("kills", "disks", "places", "archives", "damage")


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all of them by default")
    parser.add_argument("--rounds", type=int, default=1, help="how often each kind of file is damaged in each way")
    parser.add_argument("--only", default="", help="only trials whose kind or description contains this")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all trials")
    options = parser.parse_args()
    wanted = options.parts or PARTS
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    began = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="epic-faults-"))
    place.chmod(0o755)  # other users try it, too
    try:
        outcomes = tried(listed(place, wanted, options))
    finally:
        if not options.keep:
            shutil.rmtree(place, ignore_errors=True)
    print(f"\n{table(outcomes)}\n{(time.monotonic() - began) / 60:.0f} minutes")
    return any(outcome.verdict in (SILENT, TRACEBACK) for _, outcome in outcomes)


def listed(place: Path, wanted, options) -> list[Trial]:
    """Make what the trials start from, and list them."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java runs for a second at a time
    os.environ["PYTHONPATH"] = str(ROOT)
    (place / "encoder").mkdir()
    encoder = write_encoder(place / "encoder")
    (encoder / "model.safetensors").chmod(0o644)  # safetensors lets nobody else read it
    shutil.copytree(TINY, place / "own")
    fresh = Folder.made(place / "fresh", encoder, str(place / "own"))
    inside = Folder.made(place / "inside", encoder, "own")
    base = fresh.copied(place / "base")
    targets = [*ROWS, TABLE] if "damage" in wanted else ROWS
    if set(wanted) != {"archives"}:
        told = base.run(*targets)
        if told.code:
            raise SystemExit(f"the undisturbed run failed:\n{told.screen}")
        print(f"an undisturbed run: {told.screen.strip().splitlines()[-1]}", flush=True)
    found: list[Trial] = []
    if "kills" in wanted:
        found += kills.trials(base, place)
    if "disks" in wanted:
        found += disks.trials(base, fresh, place) if disks.may_mount(place) else [_not_mounted()]
    if "places" in wanted:
        found += places.trials(base, inside, place)
    if "archives" in wanted:
        found += archives.trials(place, encoder)
    if "damage" in wanted:
        found += damage.trials(base, place, options.rounds)
    return [trial for trial in found if options.only in f"{trial.kind} {trial.what}"]


def _not_mounted() -> Trial:
    return Trial("full disks and power cuts", "all", lambda: Outcome(NOT_TRIED, "this user may not mount; try as root"))


def tried(trials: list[Trial]) -> list[tuple[Trial, Outcome]]:
    """Run all trials, two at a time, and say at once what did not end well."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_tried, trials))


def _tried(trial: Trial) -> tuple[Trial, Outcome]:
    began = time.monotonic()
    try:
        outcome = trial.run()
    except Exception:
        outcome = Outcome(TRACEBACK, f"the trial itself failed:\n{traceback.format_exc()}")
    mark = "" if outcome.verdict in (SURVIVED, NOT_TRIED) else "  <<<"
    said = outcome.words if mark else outcome.words[-240:]
    print(f"{outcome.verdict:<10} {trial.kind}: {trial.what} ({time.monotonic() - began:.0f} s)  {said}{mark}", flush=True)
    return trial, outcome


if __name__ == "__main__":
    sys.exit(main())
