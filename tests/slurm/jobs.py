"""What became of the jobs: who was submitted, by Snakemake's log; where and how it ended, by Slurm's."""

import re
from datetime import datetime
from pathlib import Path
from typing import NamedTuple


class Job(NamedTuple):
    """A Slurm job; `number` is Snakemake's, the same for a job that is submitted again."""

    id: int
    number: int
    rule: str
    state: str
    node: str
    cpus: int
    start: datetime
    end: datetime

    def beside(self, other: "Job") -> bool:
        """Whether both ran on one node at a time."""
        return self.node == other.node and self.start < other.end and other.start < self.end


def submitted(said: str) -> dict[int, tuple[int, str]]:
    """Slurm's number -> Snakemake's number and rule, in the order of submission."""
    lines = re.findall(r"Job (\d+) has been submitted with SLURM jobid (\d+) \(log: \S*/rule_(\w+)/", said)
    return {int(slurm): (int(number), rule) for number, slurm, rule in lines}


def finished(log: Path) -> dict[int, dict[str, str]]:
    """Slurm's number -> what its completion log says, as text."""
    lines = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in log.read_text().splitlines()]
    return {int(line["JobId"]): line for line in lines}


def jobs_of(said: str, log: Path) -> list[Job]:
    """All jobs of a run; one that was submitted and never ended is an error."""
    ends, found = finished(log), []
    for slurm, (number, rule) in submitted(said).items():
        end = ends[slurm]
        times = [datetime.fromisoformat(end[key]) for key in ("StartTime", "EndTime")]
        found.append(Job(slurm, number, rule, end["JobState"], end["NodeList"], int(end["ProcCnt"]), *times))
    return found
