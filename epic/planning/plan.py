"""The cost of all jobs that would run together: by stage, and on the disk at once."""

import sys
from typing import NamedTuple

from epic.core.terminal import columns
from epic.planning.cards import NO_CARD, Speed
from epic.planning.disk import at_once
from epic.planning.estimates import Collection, Cost, Job, cost

GB, HOUR = 1e9, 3600.0
SHOWN = 0.05  # GB or hours: a stage with less has no line of its own


class Place(NamedTuple):
    """The place where jobs run: cores, GPUs and memory for use at once; on a cluster, the number of jobs and any limits."""

    cores: int
    gpus: int | None
    cluster_jobs: int | None = None  # None: on this machine
    memory_mb: int | None = None

    def at_once(self, job: Job) -> int:
        """Return the number of jobs like this one that run side by side."""
        jobs = self.cores // max(1, job.threads) if self.cluster_jobs is None else self.cluster_jobs
        limits = [
            limit // asked
            for limit, asked in ((self.gpus, job.gpus), (self.memory_mb, job.memory_mb))
            if asked and limit is not None
        ]
        return max(1, min([jobs, *limits]))


class Stage(NamedTuple):
    """The cost of the jobs of one rule."""

    name: str
    jobs: int
    written: float
    gpu_seconds: float
    seconds: float  # from the first job's start to the last one's end


class Plan(NamedTuple):
    """The cost of an experiment: its stages in order, and bytes."""

    stages: list[Stage]
    growth: float  # of the results, beyond the bytes that are there and will be overwritten
    scratch: float  # more: the most that lies there at once of what is removed again
    sources: Cost  # to be fetched, into the folders of ir_datasets and Hugging Face
    speed: Speed = NO_CARD
    systems: tuple[Stage, ...] = ()  # the jobs of each model, first stage, weighter and generator, one after another


NOTHING = Cost(0.0, 0.0)


def plan(
    jobs: list[Job],
    settings: dict,
    collection: Collection,
    place: Place,
    sources: Cost = NOTHING,
    present: float = 0,
    speed: Speed = NO_CARD,
) -> Plan:
    """Plan some jobs, which will overwrite `present` bytes, on a card of some speed."""
    found = [(job, cost(job, settings, collection, speed)) for job in jobs]
    by_rule: dict[str, list[tuple[Job, Cost]]] = {}
    for job, one in found:
        by_rule.setdefault(job.rule, []).append((job, one))
    stages = [_stage(name, some, place) for name, some in by_rule.items()]
    kept = sum(one.written - one.temporary for _, one in found)
    systems = tuple(_by_system(found, settings))
    return Plan(stages, max(0.0, kept - present), at_once(found, settings, place), sources, speed, systems)


def _by_system(found: list[tuple[Job, Cost]], settings: dict) -> list[Stage]:
    """Return what the jobs take that belong to one system; those that serve several, as the collection's, belong to none."""
    by_system: dict[str, list[tuple[Job, Cost]]] = {}
    for job, one in found:
        if name := _system_of(job, settings):
            by_system.setdefault(name, []).append((job, one))
    return [
        Stage(
            name,
            len(some),
            sum(cost.written for _, cost in some),
            sum(cost.seconds * job.gpus for job, cost in some),
            sum(cost.seconds for _, cost in some),
        )
        for name, some in by_system.items()
    ]


def _system_of(job: Job, settings: dict) -> str | None:
    """Return the model of a job, or else its first stage, weighter or generator."""
    named = job.wildcards
    row = next((row for row in settings["rows"] if row["id"] == named.get("row")), {})
    timed = named.get("timed") if named.get("timed") in [model["id"] for model in settings["models"]] else None
    found = (
        *(named.get(kind) for kind in ("model", "weighter", "generator")),
        timed,
        row.get("model"),
        row.get("first_stage"),
        named.get("first_stage"),
    )
    return next(filter(None, found), None)


def _stage(name: str, found: list[tuple[Job, Cost]], place: Place) -> Stage:
    seconds = [cost.seconds for _, cost in found]
    side_by_side = min(len(found), min(place.at_once(job) for job, _ in found))
    return Stage(
        name,
        len(found),
        sum(cost.written for _, cost in found),
        sum(cost.seconds * job.gpus for job, cost in found),
        max(sum(seconds) / side_by_side, *seconds) if len(seconds) > 1 else seconds[0],
    )


def cost_table(found: Plan, place: Place) -> str:
    """Lay out jobs, GB, GPU-hours and hours by stage, in columns, and name the machine."""
    lines = [("stage", "jobs", "GB written", "GPU-hours", "hours")]
    if found.sources.written:
        lines.append(_line("sources", "", found.sources.written, 0, found.sources.seconds))
    shown = [stage for stage in found.stages if max(stage.written / GB, stage.seconds / HOUR, stage.gpu_seconds / HOUR) >= SHOWN]
    others = [stage for stage in found.stages if stage not in shown]
    lines += [_line(stage.name, stage.jobs, *stage[2:]) for stage in shown]
    if others:
        lines.append(_line(_number(len(others), "other" if shown else "stage"), *_sums(others)))
    jobs, *sums = _sums(found.stages)
    total = _line("total", jobs, sums[0] + found.sources.written, sums[1], sums[2] + found.sources.seconds)
    text = [f"  {line}" for line in columns([*lines, total, *_system_lines(found.systems)], texts=1)]
    gpus = f"GPU work as {found.speed.said}, the rest " if sums[1] else ""
    return "\n".join(
        [*text, f"  ({where(place, sums[1] > 0)}, one stage after another; estimates: {gpus}as on cores of an AMD EPYC)"]
    )


def _system_lines(systems: tuple[Stage, ...]) -> list[tuple[str, ...]]:
    """Return jobs, GB, GPU-hours and hours of each system, its jobs one after another; nothing if all are quick."""
    shown = [system for system in systems if system.seconds / HOUR >= SHOWN]
    return [("of these, by system", "", "", "", ""), *(_line(*system) for system in shown)] if shown else []


def _sums(stages: list[Stage]) -> list[float]:
    """Return jobs, bytes, GPU-seconds and seconds of some stages."""
    return [sum(stage[column] for stage in stages) for column in range(1, len(Stage._fields))]


def _line(name, jobs, written, gpu_seconds, seconds) -> tuple[str, ...]:
    return name, str(jobs), amount(written / GB), amount(gpu_seconds / HOUR) if gpu_seconds else "-", amount(seconds / HOUR)


def amount(value: float) -> str:
    """Format a number of GB or hours, as exactly as an estimate deserves."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= SHOWN else "<0.1"


def where(place: Place, with_gpus: bool) -> str:
    """Describe the machine that hours are meant for."""
    jobs = (
        _number(place.cores, "core")
        if place.cluster_jobs is None
        else f"{_number(place.cluster_jobs, 'job')} at once on a cluster"
    )
    gpus = "any number of GPUs" if place.gpus is None else _number(place.gpus, "GPU")
    return f"{jobs}, {gpus}" if with_gpus else jobs


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}" if count < sys.maxsize else f"any number of {what}s"
