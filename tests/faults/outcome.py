"""How trials end, counted by kind and shown as a table."""

import re
from collections.abc import Callable
from typing import NamedTuple

SURVIVED, SILENT, TRACEBACK, NOT_TRIED = "survived", "silent", "traceback", "not tried"
RAW = re.compile(r"^\s*(Traceback \(most recent call last\)|File \".*\", line \d+, in|\w+(Error|Exception|Interrupt)\b(: |$))")
SPEECHLESS = ("it ended without a reason",)


class Trial(NamedTuple):
    """One fault: its kind, what exactly is done, and the function that does it and returns an outcome."""

    kind: str
    what: str
    run: Callable[[], "Outcome"]


class Outcome(NamedTuple):
    """The end of a trial, and words that explain it."""

    verdict: str
    words: str


class Told(NamedTuple):
    """What a command said, and how it ended."""

    code: int
    screen: str


def judged(told: Told, equal: bool, names: tuple[str, ...] = ()) -> Outcome:
    """Judge a command by its end: equal: are the results those of an undisturbed run?; names: one of them must be in a refusal."""
    last = told.screen.strip()[-1500:]
    if told.code == 0:
        return Outcome(SURVIVED, "the same results") if equal else Outcome(SILENT, "other results, and no word")
    if any(RAW.match(line) for line in told.screen.splitlines()):
        return Outcome(TRACEBACK, last)
    if (
        any(text in told.screen for text in SPEECHLESS) and "error: the disk is full: " not in told.screen
    ):  # said by the job itself
        return Outcome(TRACEBACK, last)
    if names and not any(name in told.screen for name in names):
        return Outcome(TRACEBACK, f"names none of {', '.join(names)}: {last}")
    return Outcome(SURVIVED, f"refused: {last.splitlines()[-1] if last else ''}")


def table(outcomes: list[tuple[Trial, Outcome]]) -> str:
    """Return a table of kinds: tried, survived, silent, traceback."""
    kinds = list(dict.fromkeys(trial.kind for trial, _ in outcomes))
    lines = [f"{'kind':<44} {'tried':>6} {SURVIVED:>9} {SILENT:>7} {TRACEBACK:>10}"]
    for kind in [*kinds, "all"]:
        verdicts = [outcome.verdict for trial, outcome in outcomes if kind in (trial.kind, "all")]
        tried = [verdict for verdict in verdicts if verdict != NOT_TRIED]
        counts = [tried.count(verdict) for verdict in (SURVIVED, SILENT, TRACEBACK)]
        line = f"{kind:<44} {len(tried):>6} {counts[0]:>9} {counts[1]:>7} {counts[2]:>10}"
        lines.append(line + (f"   not tried: {len(verdicts) - len(tried)}" if len(tried) < len(verdicts) else ""))
    return "\n".join(lines)
