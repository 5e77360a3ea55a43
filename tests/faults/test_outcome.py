"""How trials are judged: a table that cannot show a failure would be worth nothing."""

import random

import pytest

from tests.faults import damage
from tests.faults.outcome import NOT_TRIED, SILENT, SURVIVED, TRACEBACK, Outcome, Told, Trial, judged, table

RAW = "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nKeyError: 'x'"


@pytest.mark.parametrize(
    ("code", "screen", "equal", "verdict"),
    [
        (0, "3 jobs done", True, SURVIVED),
        (0, "3 jobs done", False, SILENT),
        (1, "rerank failed\n\nresults/a.run line 3: no score; make it again", False, SURVIVED),
        (1, "rerank failed\n\nother.run line 3: no score", False, TRACEBACK),  # names another file
        (1, RAW, False, TRACEBACK),
        (1, "rerank failed of results/a.run\n\nKeyError: 'x'", False, TRACEBACK),
        (1, "rerank failed of results/a.run\n\nit ended without a reason and left no log", False, TRACEBACK),
        (1, "error: the disk is full: results/a.run; free it\n\nit ended without a reason and left no log", False, SURVIVED),
        (1, "", False, TRACEBACK),
    ],
)
def test_an_end_is_judged_by_results_and_words(code, screen, equal, verdict):
    assert judged(Told(code, screen), equal, ("results/a.run",)).verdict == verdict


def test_kinds_are_counted():
    verdicts = {"a": [SURVIVED, SILENT], "b": [TRACEBACK, NOT_TRIED, SURVIVED]}
    outcomes = [(Trial(kind, "", lambda: None), Outcome(verdict, "")) for kind, some in verdicts.items() for verdict in some]
    lines = [line.split() for line in table(outcomes).splitlines()]
    assert lines[1:] == [
        ["a", "2", "1", "1", "0"],
        ["b", "2", "1", "0", "1", "not", "tried:", "1"],
        ["all", "4", "2", "1", "1", *lines[3][5:]],
    ]


@pytest.mark.parametrize("way", sorted({way for ways in damage.WAYS for way in ways}, key=lambda way: way.__name__))
@pytest.mark.parametrize("data", [b"q1\t0.5\nq2\t0.25\n", b"\x01\x02\x03\x04", b"a"])
def test_every_way_changes_data_or_is_repeated_until_it_does(way, data):
    chance = random.Random(1)
    assert any(way(data, chance) != data for _ in range(100)) and len(way(data, chance)) <= len(data)
