"""Where several graphics cards are, each job computes on its own; on a large one, as many as its memory holds."""

import os
import sys
from types import SimpleNamespace

import pytest

from tests.processes import start

SMALL, LARGE = 11_720_000_000, 25_400_000_000  # bytes that cards of 11 and 24 GB say they have: for one job, for two


def take_a_card(cards):
    """What a job does on a machine with cards of such memory; it says which one it took, and ends when its input ends."""
    import tempfile

    import torch

    from epic.model import device as compute

    tempfile.tempdir = None  # else that of the process that this one was forked from
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: len(cards)
    torch.cuda.get_device_properties = lambda card: SimpleNamespace(uuid=f"card-{card}", total_memory=cards[card])
    taken = []
    torch.cuda.set_device = taken.append
    device = compute.prepare("cuda", 1)
    assert compute.prepare("cuda", 1) == device and [f"cuda:{card}" for card in taken] in ([], [device])
    print(device, flush=True)
    sys.stdin.read()


def begin(cards, folder):
    """A job that runs until it is told to end; and where it will say which card it took."""
    (its_input, end), (said, its_output) = os.pipe(), os.pipe()
    process = start(take_a_card, cards, environment={"TMPDIR": str(folder)}, files=(its_input, its_output))
    os.close(its_input)
    os.close(its_output)
    return (process, end), said


def answer(said):
    """The card that a job took."""
    with open(said) as lines:
        return lines.readline().strip()


def job(cards, folder):
    """A job that runs until it is told to end; and the card it took."""
    process, said = begin(cards, folder)
    return process, answer(said)


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


def several(cards, folder, count):
    """Jobs that run at once, started one after the other, and the cards they took."""
    return zip(*(job(cards, folder) for _ in range(count)), strict=True)


def test_a_job_takes_the_first_card_that_no_other_has(tmp_path):
    (one, two, three), said = several([SMALL, SMALL], tmp_path, 3)
    assert said == ("cuda:0", "cuda:1", "cuda")  # none is left: torch's own first card is shared
    end(one)
    four, fourth = job([SMALL, SMALL], tmp_path)
    assert fourth == "cuda:0"
    for process in (two, three, four):
        end(process)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([SMALL], ["cuda:0", "cuda"]),
        ([LARGE], ["cuda:0", "cuda:0", "cuda"]),
        ([LARGE, LARGE], ["cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda"]),  # evenly
        ([SMALL, LARGE, SMALL], ["cuda:0", "cuda:1", "cuda:2", "cuda:1", "cuda"]),
        ([5_000_000_000], ["cuda:0", "cuda"]),  # a small one has a place for a job that may not fit
        ([85_000_000_000], ["cuda:0"] * 7 + ["cuda"]),
    ],
)
def test_a_large_card_has_as_many_jobs_as_its_memory_holds(tmp_path, cards, expected):
    jobs, said = several(cards, tmp_path, len(expected))
    for process in jobs:
        end(process)
    assert list(said) == expected


def test_a_job_goes_where_the_fewest_are_even_if_a_lower_place_is_free(tmp_path):
    cards = [3 * 11_000_000_000] * 2
    jobs, said = several(cards, tmp_path, 5)
    assert said == ("cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0")
    for place in (1, 3):  # both of card 1; its places are free, and so is the first one of card 0 in a moment
        end(jobs[place])
    end(jobs[0])
    more, next_said = several(cards, tmp_path, 2)
    assert next_said == ("cuda:1", "cuda:1")
    for process in (*more, jobs[2], jobs[4]):
        end(process)


def test_jobs_that_start_at_once_take_a_place_each(tmp_path):
    started = [begin([SMALL] * 3, tmp_path) for _ in range(3)]
    said = sorted(answer(said) for _, said in started)
    for process, _ in started:
        end(process)
    assert said == ["cuda:0", "cuda:1", "cuda:2"]


def precious(folder):
    """A file that somebody else would like to see emptied."""
    path = folder / "precious.txt"
    path.write_text("do not touch")
    return path


@pytest.mark.parametrize("place", ["epic-{user}", "epic-{user}/card-card-0-0.lock", "epic-{user}-card-card-0-0.lock"])
@pytest.mark.parametrize("to", ["precious.txt", "new.txt", "."])
def test_a_link_in_the_temporary_folder_leads_nowhere(tmp_path, place, to):
    temporary, others = tmp_path / "tmp", tmp_path / "others"
    link = temporary / place.format(user=os.getuid())
    others.mkdir()
    link.parent.mkdir(parents=True, mode=0o700)
    link.parent.chmod(0o700)
    link.symlink_to(others / to)
    kept = precious(others)
    said = taken([SMALL] * 2, temporary)
    assert kept.read_text() == "do not touch" and [path.name for path in others.iterdir()] == ["precious.txt"]
    assert said in ("cuda", "cuda:0") and link.is_symlink()  # the first card, shared or not


def test_a_lock_empties_nothing(tmp_path):
    folder = tmp_path / f"epic-{os.getuid()}"
    folder.mkdir(mode=0o700)
    lock = folder / "card-card-0-0.lock"
    lock.write_text("left by another version")
    said = taken([SMALL] * 2, tmp_path)
    assert said == "cuda:0" and lock.read_text() == "left by another version"


def test_locks_are_in_a_folder_that_only_this_user_may_enter(tmp_path):
    said = taken([SMALL] * 2, tmp_path)
    (folder,) = tmp_path.glob("epic-*")
    locks = sorted(folder.iterdir())
    assert [lock.name for lock in locks] == ["card-card-0-0.lock", "card-card-1-0.lock", "choosing.lock"]
    assert (
        said == "cuda:0" and folder.stat().st_mode & 0o777 == 0o700 and {lock.stat().st_mode & 0o777 for lock in locks} == {0o600}
    )


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o705])
def test_a_folder_that_others_may_enter_holds_no_locks(tmp_path, mode):
    folder = tmp_path / f"epic-{os.getuid()}"
    folder.mkdir()
    folder.chmod(mode)
    said = taken([SMALL] * 2, tmp_path)
    assert said == "cuda" and not list(folder.iterdir())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_only_a_file_can_be_a_lock(tmp_path, make):
    (tmp_path / f"epic-{os.getuid()}").mkdir(mode=0o700)
    make(tmp_path / f"epic-{os.getuid()}" / "card-card-0-0.lock")
    said = taken([SMALL] * 2, tmp_path)
    assert said == "cuda"
