"""Checks of whether this machine can run the jobs, and the cost: answered in seconds, before any job."""

from pathlib import Path
from typing import NamedTuple

from epic.core.files import size_of
from epic.core.terminal import columns
from epic.corpus.boolq import WHEEL
from epic.planning import probes, rates
from epic.planning.cards import speed_here
from epic.planning.encoders import misfits
from epic.planning.estimates import Cost, Job
from epic.planning.plan import Place, Plan, cost_table, plan
from epic.planning.probes import Check
from epic.planning.sources import Absent, absent_sources, collection_of, is_replay

NEED_JAVA = {"recall", "index", "retrieve", "latency", "interpret"}


class Survey(NamedTuple):
    """The needs of an experiment's jobs, the findings, and the cost."""

    experiment: str
    place: Place
    plan: Plan
    checks: list[Check]


def survey(experiment: str, settings: dict, jobs: list[Job], place: Place) -> Survey:
    """Look at the jobs that would run, and at this machine."""
    absent = absent_sources(settings, jobs)
    present = sum(size_of(path) for job in jobs for path in job.outputs)
    downloaded = sum(source.size for source in absent if source.hosts)  # the rest is made from it
    sources = Cost(sum(source.size for source in absent), downloaded * rates.DOWNLOAD)
    found = plan(jobs, settings, collection_of(settings), place, sources, present, speed_here())
    needing = [job._replace(rule="replay") if is_replay(settings, job) else job for job in jobs]  # nothing is searched
    return Survey(experiment, place, found, [*misfits(settings, jobs), *checks(needing, absent, found, place)])


def checks(jobs: list[Job], absent: list[Absent], found: Plan, place: Place) -> list[Check]:
    """List the jobs' needs from this machine; a cluster's nodes are other machines."""
    here = [job for job in jobs if job.local or place.cluster_jobs is None]
    needs = [probes.gpu()] if any(job.gpus for job in here) else []
    if megabytes := max((job.memory_mb for job in here), default=0):
        needs.append(probes.memory(megabytes))
    sizes = [("results", Path("results"), found.growth), ("while they are made", Path("results"), found.scratch)]
    sizes += [("sources", source.folder, source.size) for source in absent]
    sizes += [("spare for ir_datasets", source.folder, _spare(source, found)) for source in absent]
    needs += probes.disks(sizes)
    if NEED_JAVA & {job.rule for job in jobs}:
        needs.append(probes.java())
    if any(job.rule == "boolq" for job in jobs):
        needs.append(probes.wheel(WHEEL))
    if place.cluster_jobs is not None:
        needs += [probes.shared(what, folder) for what, folder in shared_folders()]
    needs += [_barred(source) for source in absent if source.barred]
    return needs + probes.networks(_hosts(absent))


def _spare(source: Absent, found: Plan) -> float:
    """Return the bytes that must be free besides all others: only while a store is built, before results are there."""
    beside = found.growth + found.scratch if probes.disk_of(source.folder) == probes.disk_of("results") else 0.0
    return max(0.0, source.spare - beside)


def _barred(source: Absent) -> Check:
    """Describe a file that is neither here nor may be fetched."""
    return Check(
        f"{source.name} in {source.folder}", f"absent, and {source.barred} is set", f"unset {source.barred}, or copy it there"
    )


def shared_folders() -> list[tuple[str, Path]]:
    """List the folders that jobs read and write, wherever they run."""
    import ir_datasets

    return [("this one", Path.cwd()), ("IR_DATASETS_HOME", Path(ir_datasets.util.home_path()))]


def _hosts(absent: list[Absent]) -> dict[tuple[str, ...], str]:
    """Return groups of hosts, each with the number of files that it serves."""
    groups = [source.hosts for source in absent if source.hosts]
    return {hosts: f"{groups.count(hosts)} file{'s' if groups.count(hosts) > 1 else ''}" for hosts in dict.fromkeys(groups)}


def table(found: list[Check]) -> str:
    """Lay out need, found and remedy in columns."""
    rows = [("need", "found", "remedy")]
    rows += [(check.need, check.found, f"{'warning: ' * check.warning}{check.remedy}" or "ok") for check in found]
    return "\n".join(f"  {line}" for line in columns(rows, texts=3))


def unmet(found: list[Check]) -> list[Check]:
    """Return the needs that keep the jobs from running; warnings do not."""
    return [check for check in found if check.remedy and not check.warning]


def refusal(found: Survey) -> str | None:
    """Say why the experiment cannot start here, or return None if every need is met."""
    if not unmet(found.checks):
        return None
    hint = "" if found.experiment == "smoke" else "\n`make smoke` runs the same pipeline offline, without a GPU, in minutes."
    return f"{found.experiment} cannot run on this machine:\n{tables(found)}{hint}"


def tables(found: Survey) -> str:
    """Lay out needs and costs, one table below the other."""
    return "\n\n".join(filter(None, [found.checks and table(found.checks), cost_table(found.plan, found.place)]))


def planned(found: Survey) -> str:
    """Describe the plan of an experiment, whether it can run here or not."""
    lacking = len(unmet(found.checks))
    verdict = f"{lacking} need{'s are' if lacking > 1 else ' is'} not met here" if lacking else "every need is met here"
    return f"{found.experiment}: {verdict}; nothing was run\n\n{tables(found)}\n"


def warnings(found: Survey) -> str:
    """List problems that may arise although every need is met."""
    return "".join(f"warning: {check.need}: {check.found}; {check.remedy}\n" for check in found.checks if check.warning)
