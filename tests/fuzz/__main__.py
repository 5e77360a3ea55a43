"""`make fuzz`: thousands of mutated inputs of every format, each format in a process of its own, and a table of what became of them.

python -m tests.fuzz [--count 5000] [--seed 1] [--only FORMAT] [--json FILE]
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.run import FINE, OUTCOMES, tried

HOURGLASS = 1800  # seconds after which a format counts as one that hangs in a library
SHOWN = 6  # examples of an outcome


def main() -> int:
    """Try all formats, print the table, and fail if anything but accepting and refusing happened."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=5000, help="inputs of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one format, in this process; prints JSON")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    from tests.fuzz.formats import formats

    if options.only:
        (format,) = (format for format in formats() if format.name == options.only)
        counted, examples = tried(format, options.count, options.seed)
        print(json.dumps({"counted": counted, "examples": examples}))
        return 0
    names = [format.name for format in formats()]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(names, pool.map(lambda name: alone(name, options.count, options.seed), names), strict=True))
    print(table({name: counted for name, (counted, _) in found.items()}))
    for name, (_, examples) in found.items():
        for outcome, said in examples.items():
            print(f"\n{name}, {outcome}:", *kinds(said)[:SHOWN], sep="\n  ")
    return int(any(set(counted) - FINE for counted, _ in found.values()))


def alone(name: str, count: int, seed: int) -> tuple[Counter, dict]:
    """Try a format in a process of its own: a library that hangs or crashes takes only that along."""
    command = [sys.executable, "-m", "tests.fuzz", "--only", name, "--count", str(count), "--seed", str(seed)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=HOURGLASS)
    except subprocess.TimeoutExpired:
        return Counter(hang=1), {"hang": [f"#?: more than {HOURGLASS} s"]}
    if run.returncode:
        return Counter({"raw exception": 1}), {
            "raw exception": [f"#?: the process ended with {run.returncode}: {run.stderr[-300:]}"]
        }
    answer = json.loads(run.stdout.splitlines()[-1])
    return Counter(answer["counted"]), answer["examples"]


def kinds(said: list[str]) -> list[str]:
    """Sum up what was said, the most frequent first, each with its first example."""
    short = Counter(line.partition(": ")[2][:160] for line in said)
    return [f"{count} x {text}" for text, count in short.most_common()]


def table(counts: dict[str, Counter]) -> str:
    """Lay out the outcomes by format."""
    rows = [["format", "tried", *OUTCOMES]]
    rows += [[name, str(counted.total()), *(str(counted[outcome]) for outcome in OUTCOMES)] for name, counted in counts.items()]
    total = sum(counts.values(), Counter())
    rows.append(["all", str(total.total()), *(str(total[outcome]) for outcome in OUTCOMES)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in rows)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
