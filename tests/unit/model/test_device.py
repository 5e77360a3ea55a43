"""Where several graphics cards are, each job computes on its own."""

import os
import sys
from types import SimpleNamespace

import pytest

from tests.processes import start


def take_a_card(cards):
    """What a job does on a machine with so many cards; it says which one it took, and ends when its input ends."""
    import tempfile

    import torch

    from epic.model import device as compute

    tempfile.tempdir = None  # else that of the process that this one was forked from
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: cards
    torch.cuda.get_device_properties = lambda card: SimpleNamespace(uuid=f"card-{card}")
    taken = []
    torch.cuda.set_device = taken.append
    device = compute.prepare("cuda", 1)
    assert compute.prepare("cuda", 1) == device and [f"cuda:{card}" for card in taken] in ([], [device])
    print(device, flush=True)
    sys.stdin.read()


def job(cards, folder):
    """A job that runs until it is told to end; and the card it took."""
    (its_input, end), (answer, its_output) = os.pipe(), os.pipe()
    process = start(take_a_card, cards, environment={"TMPDIR": str(folder)}, files=(its_input, its_output))
    os.close(its_input)
    os.close(its_output)
    with open(answer) as said:
        return (process, end), said.readline().strip()


def end(job):
    process, its_input = job
    os.close(its_input)
    process.join(60)
    assert process.exitcode == 0


def taken(cards, folder):
    """The card that a job took, which has ended."""
    process, said = job(cards, folder)
    end(process)
    return said


def test_a_job_takes_the_first_card_that_no_other_has(tmp_path):
    (one, first), (two, second) = job(2, tmp_path), job(2, tmp_path)
    three, third = job(2, tmp_path)
    assert (first, second, third) == ("cuda:0", "cuda:1", "cuda")  # none is left: torch's own first card is shared
    end(one)
    four, fourth = job(2, tmp_path)
    assert fourth == "cuda:0"
    for process in (two, three, four):
        end(process)


def test_a_single_card_is_not_chosen(tmp_path):
    process, said = job(1, tmp_path)
    end(process)
    assert said == "cuda" and not list(tmp_path.glob("epic-*"))


def precious(folder):
    """A file that somebody else would like to see emptied."""
    path = folder / "precious.txt"
    path.write_text("do not touch")
    return path


@pytest.mark.parametrize("place", ["epic-{user}", "epic-{user}/card-card-0.lock", "epic-{user}-card-card-0.lock"])
@pytest.mark.parametrize("to", ["precious.txt", "new.txt", "."])
def test_a_link_in_the_temporary_folder_leads_nowhere(tmp_path, place, to):
    temporary, others = tmp_path / "tmp", tmp_path / "others"
    link = temporary / place.format(user=os.getuid())
    others.mkdir()
    link.parent.mkdir(parents=True, mode=0o700)
    link.parent.chmod(0o700)
    link.symlink_to(others / to)
    kept = precious(others)
    said = taken(2, temporary)
    assert kept.read_text() == "do not touch" and [path.name for path in others.iterdir()] == ["precious.txt"]
    assert said in ("cuda", "cuda:0") and link.is_symlink()  # the first card, shared or not


def test_a_lock_empties_nothing(tmp_path):
    folder = tmp_path / f"epic-{os.getuid()}"
    folder.mkdir(mode=0o700)
    lock = folder / "card-card-0.lock"
    lock.write_text("left by another version")
    said = taken(2, tmp_path)
    assert said == "cuda:0" and lock.read_text() == "left by another version"


def test_locks_are_in_a_folder_that_only_this_user_may_enter(tmp_path):
    said = taken(2, tmp_path)
    (folder,) = tmp_path.glob("epic-*")
    (lock,) = folder.iterdir()
    assert said == "cuda:0" and folder.stat().st_mode & 0o777 == 0o700 and lock.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o705])
def test_a_folder_that_others_may_enter_holds_no_locks(tmp_path, mode):
    folder = tmp_path / f"epic-{os.getuid()}"
    folder.mkdir()
    folder.chmod(mode)
    said = taken(2, tmp_path)
    assert said == "cuda" and not list(folder.iterdir())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_a_file_can_be_a_lock(tmp_path, make):
    (tmp_path / f"epic-{os.getuid()}").mkdir(mode=0o700)
    make(tmp_path / f"epic-{os.getuid()}" / "card-card-0.lock")
    said = taken(2, tmp_path)
    assert said == "cuda"
