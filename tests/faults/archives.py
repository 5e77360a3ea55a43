"""Archives, pickles and experiments made to harm: nothing in them may run, leave its place, or take the memory of the machine."""

import gzip
import io
import os
import pickle
import resource
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.conftest import ROOT
from tests.faults.outcome import SILENT, TRACEBACK, Outcome, Told, Trial, judged

SAMPLE = "predicted_queries_topk_sample{:03d}.txt000-1004000"
READ = """
import sys
from epic.core.files import InputError
from epic.first_stage.predicted_queries import predictions
try:
    found = list(predictions(sys.argv[1], int(sys.argv[2]) if sys.argv[2] else None))
    print([tuple(one) for one in found])
except InputError as error:
    sys.exit(f"error: {error}")
"""
MEMORY, SECONDS = 3 << 30, 90


def trials(place: Path, encoder: Path) -> list[Trial]:
    """List all trials."""
    folder = place / "archives"
    folder.mkdir()
    found = []
    for name, write, samples, expected in [*ZIPS, *TARS]:
        found.append(Trial("hostile archives", name, partial(read, folder, name, write, samples, expected)))
    for name, write in PICKLES:
        found.append(Trial("hostile weights", name, partial(imported, folder, name, write, encoder)))
    for name, text in EXPERIMENTS:
        found.append(Trial("hostile experiments", name, partial(planned, folder / name.replace(" ", "-"), text)))
    return found


def limited() -> None:
    """Run in a child: give it no more memory than a small machine has."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def said(command: list, folder: Path, limit: bool = True) -> Told:
    """Run a command with little memory and little time."""
    options = {"preexec_fn": limited} if limit else {}
    environment = os.environ | {"PYTHONPATH": str(ROOT), "VERBOSE": ""}
    try:
        run = subprocess.run(
            list(map(str, command)),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        return Told(-1, "Traceback (most recent call last): it never ended")
    return Told(run.returncode, run.stdout)


def watched(folder: Path, told: Told, equal: bool) -> Outcome:
    """Judge, unless something ran or was written where it must not be."""
    harmed = [path for path in (folder / "harm", folder.parent / "harm", Path("/tmp/harm")) if path.exists()]
    for path in harmed:
        path.unlink()
    return Outcome(SILENT, f"it wrote {harmed[0]}") if harmed else judged(told, equal)


def read(folder: Path, name: str, write: Callable, samples: int | None, expected: str | None) -> Outcome:
    """Read predicted queries; expected: what an honest reader finds, or nothing if there is nothing to be found."""
    path = folder / name.replace(" ", "-")
    write(path)
    told = said([sys.executable, "-c", READ, path, "" if samples is None else samples], folder)
    path.unlink()
    outcome = watched(folder, told, expected is not None and expected in told.screen)
    return outcome._replace(verdict=TRACEBACK) if told.code < 0 else outcome


def zipped(*members: tuple[str, bytes], flag: int = 0, method: int | None = None) -> Callable:
    """Write a zip; flag, method: bits of its headers that are changed afterwards."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in members:
                archive.writestr(name, text)
        data = bytearray(path.read_bytes())
        for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            place = data.find(signature)
            while place >= 0:
                data[place + at] |= flag
                if method is not None:
                    data[place + at + 2 : place + at + 4] = method.to_bytes(2, "little")
                place = data.find(signature, place + 4)
        path.write_bytes(data)

    return write


def tarred(*members: tuple[str, bytes, str, str]) -> Callable:
    """Write a tar of members: name, type, link, text."""

    def write(path: Path) -> None:
        with tarfile.open(path, "w:gz") as archive:
            for name, kind, link, text in members:
                info = tarfile.TarInfo(name)
                info.type, info.linkname, info.size = kind, link, len(text)
                archive.addfile(info, io.BytesIO(text.encode()))

    return write


def bomb(path: Path) -> None:
    """Write a tar of one line of four billion characters, in four megabytes."""
    info = tarfile.TarInfo("pred.txt")
    info.size = 4 << 30
    block = bytes(1 << 20).replace(b"\0", b"a")
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(info.tobuf())
        for _ in range(4096):
            stream.write(block)


def zip_bomb(path: Path) -> None:
    """The same in a zip."""
    block = bytes(1 << 20).replace(b"\0", b"a")
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(SAMPLE.format(0), "w", force_zip64=True) as stream,
    ):
        for _ in range(4096):
            stream.write(block)


ONE = "[(None, 'what is it')]"
ZIPS = [
    ("names that climb.zip", zipped((f"../../../tmp/{SAMPLE.format(0)}", b"what is it\n"), ("../harm", b"x")), 1, ONE),
    ("an absolute name.zip", zipped((f"/tmp/{SAMPLE.format(0)}", b"what is it\n"), ("/tmp/harm", b"x")), 1, ONE),
    ("encrypted.zip", zipped((SAMPLE.format(0), b"what is it\n"), flag=1), 1, None),
    ("unknown compression.zip", zipped((SAMPLE.format(0), b"what is it\n"), method=99), 1, None),
    (
        "the same sample twice.zip",
        zipped((f"a/{SAMPLE.format(0)}", b"what is it\n"), (f"b/{SAMPLE.format(0)}", b"who\n")),
        1,
        None,
    ),
    ("bomb.zip", zip_bomb, 1, None),
]
FILE, LINK, HARD, DEVICE, FOLDER, PIPE = (
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
)
TARS = [
    ("names that climb.tar.gz", tarred(("../harm", FILE, "", "x"), ("../../pred.txt", FILE, "", "what is it\n")), None, ONE),
    ("a link to a password.tar.gz", tarred(("pred.txt", LINK, "/etc/passwd", "")), None, None),
    ("a hard link to nothing.tar.gz", tarred(("pred.txt", HARD, "/etc/passwd", "")), None, None),
    ("a link to itself.tar.gz", tarred(("pred.txt", LINK, "pred.txt", "")), None, None),
    ("a device.tar.gz", tarred(("pred.txt", DEVICE, "", "")), None, None),
    ("a folder.tar.gz", tarred(("pred.txt", FOLDER, "", "")), None, None),
    ("a pipe.tar.gz", tarred(("pred.txt", PIPE, "", "")), None, None),
    ("bomb.tar.gz", bomb, None, None),
]


class Harm:
    """What runs a command when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch /tmp/harm",)


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps({"weight": Harm()}))


def in_tar(path: Path) -> None:
    data = pickle.dumps(Harm())
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("epic/weights.p")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))


PICKLES = [
    ("a pickle that runs a command", pickled),
    ("the same in a tar", in_tar),
    ("a tar with a link", tarred(("weights.p", LINK, "/etc/passwd", ""))),
    ("a tar with names that climb", tarred(("../harm", FILE, "", "x"), ("../../weights.p", FILE, "", "x"))),
    ("no weights at all", lambda path: path.write_bytes(b"\x80\x02K\x01.")),
    ("nothing", lambda path: path.write_bytes(b"")),
]


def imported(folder: Path, name: str, write: Callable, encoder: Path) -> Outcome:
    """Import weights from a file that is none."""
    path, out = folder / name.replace(" ", "-"), folder / "out"
    write(path)
    command = [sys.executable, "-m", "epic", "import-checkpoint", path, out, "--any-md5", "--encoder", f"path:{encoder}"]
    told = said(command, folder, limit=False)  # torch alone takes more addresses than that
    path.unlink()
    return watched(folder, told, equal=False)


ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
EXPERIMENTS = [
    ("a tag that runs a command", '!!python/object/apply:os.system ["touch /tmp/harm"]\n'),
    ("aliases of aliases", ALIASES),
    ("deep nesting", "[" * 20_000 + "]" * 20_000),
    ("control characters", 'note: "a\0b"\n'),
    ("not a mapping", "- 1\n- 2\n"),
    ("nothing", ""),
    ("endless number", f"seed: {'9' * 10_000}\n"),
]


def planned(folder: Path, text: str) -> Outcome:
    """Plan an experiment that is none."""
    (folder / "experiments").mkdir(parents=True)
    (folder / "experiments/bad.yaml").write_text(text)
    command = ["snakemake", "results/bad/table.md", "-n", "--snakefile", ROOT / "Snakefile", "--cores", "1"]
    return watched(folder, said(command, folder), equal=False)
