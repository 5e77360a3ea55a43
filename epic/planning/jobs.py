"""The jobs that would run, as Snakemake plans them, described for the plan and the preflight."""

from epic.planning.estimates import Job
from epic.planning.plan import Place


def described(jobs, order: list[str]) -> dict[str, list[Job]]:
    """Describe jobs by experiment, stage by stage; jobs: Snakemake's, order: names of all rules."""
    found: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: order.index(job.rule.name)):
        names, memory = dict(job.wildcards_dict), job.rule.resources.get("mem_mb")
        # Memory as it was asked for: the job itself has it cut to the amount that may be claimed at once.
        asked = job.resources.get("gpu"), memory and memory.evaluate(job.wildcards).value
        gpus, memory = (value if isinstance(value, int) else 0 for value in asked)
        if "experiment" in names:
            files = (tuple(map(str, some)) for some in (job.output, job.input))
            facts = Job(job.rule.name, names, job.threads, gpus, memory, job.is_local, *files)
            found.setdefault(names["experiment"], []).append(facts)
    return found


def place_of(cores: int | None, nodes: int | None, is_local: bool, limits: dict) -> Place:
    """Describe the place where jobs run; limits: the amounts that may be claimed at once, by resource."""
    gpus, memory = (limit and limit.value for limit in (limits.get(name) for name in ("gpu", "mem_mb")))
    where = {"cores": cores} if is_local else {"cores": 1, "cluster_jobs": nodes}
    return Place(gpus=gpus, memory_mb=memory, **where)


def preflight(experiments: dict, jobs: dict[str, list[Job]], place: Place, only_plan: bool) -> str | None:
    """Return the unmet needs of jobs by experiment, or None; if only the plan is asked for, print it."""
    import sys

    from epic.core.files import InputError
    from epic.planning.preflight import planned, refusal, survey, warnings

    try:
        surveys = [survey(name, experiments[name], found, place) for name, found in sorted(jobs.items())]
    except InputError as error:  # a card that nobody knows
        return str(error)
    if only_plan:
        print(*map(planned, surveys), sep="\n")
        return None
    if refused := list(filter(None, map(refusal, surveys))):
        return "\n".join(refused)
    print(*filter(None, map(warnings, surveys)), sep="\n", end="", file=sys.stderr)
    return None


def quoting(execute):
    """Wrap Snakemake's function that runs a job's command: Python's path is quoted in it, since a folder may have blanks.

    Snakemake forgets to (its issue 2645). The wrapper is not in the Snakefile, because an error names the last line of one.
    """
    return lambda script, command, **values: execute(script, command.replace("{py_exec}", "{py_exec:q}"), **values)
