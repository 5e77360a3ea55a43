"""Where several graphics cards are, each job computes on its own."""

import os
import sys
from types import SimpleNamespace

from tests.processes import start


def take_a_card(cards):
    """What a job does on a machine with so many cards; it says which one it took, and ends when its input ends."""
    import torch

    from epic.model import device as compute

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
