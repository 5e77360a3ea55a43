"""Models one after the other: jobs that must wait for others without being made again by them, and vectors that are gone."""

from epic.core.discarded import again_of, was_discarded

READ_VECTORS = {"prune", "rerank", "latency"}  # rules that cannot do without vectors that were removed after use
SHOWN = 3  # jobs that a refusal names


class _Triggering:
    """The jobs that depend on others, without those that only wait for ancient files: a job that must run has its own reasons."""

    def __init__(self, depending):
        self.depending = depending

    def __getitem__(self, job) -> dict:
        found = self.depending[job].items()
        return {other: files for other, files in found if not all(file.is_ancient for file in files)}


def not_through_ancient(bfs):
    """Wrap the function by which Snakemake finds all that follows from a job that runs: nothing does through ancient files.

    Snakemake takes it for granted that such jobs run, does not ask whether they have reasons of their own, and then does not run
    them, because the file is ancient (its issue 4166). A model that waits for another one, which is encoded again, would keep its
    own vectors, of older code.
    """
    if getattr(bfs, "wraps", None):
        return bfs

    def walk(dag, direction, *jobs, **how):
        return bfs(dag, _Triggering(direction) if direction is dag.depending else direction, *jobs, **how)

    walk.wraps = bfs
    return walk


def vectors_lacking(jobs) -> str | None:
    """Say which of Snakemake's jobs would read vectors that were removed after use and are not made again; None if none would."""
    jobs = list(jobs)
    made = {str(path) for job in jobs for path in job.output}
    lacking: dict[str, list[str]] = {}
    for job in jobs:
        gone = [path for path in _vectors_of(job) if str(path) not in made and was_discarded(path)]
        for again in dict.fromkeys(map(again_of, gone)):
            names = [value for name, value in job.wildcards_dict.items() if name != "experiment"]
            lacking.setdefault(again, []).append(" ".join([job.rule.name, "/".join(names)]))
    return "\n".join(map(_refusal, lacking, lacking.values())) or None


def _vectors_of(job) -> list:
    """List the inputs of a job that may be vectors; scores that lie beside them, the inputs `scored`, stay when they go."""
    scored = set(map(str, getattr(job.input, "scored", ())))
    return [path for path in job.input if str(path) not in scored] if job.rule.name in READ_VECTORS else []


def _refusal(again: str, jobs: list[str]) -> str:
    more = f" and {len(jobs) - SHOWN} more jobs" if len(jobs) > SHOWN else ""
    return (
        f"{', '.join(jobs[:SHOWN])}{more}: the vectors that this needs were removed after use (keep in the experiment is without "
        f"stores); make them again, then repeat your command: {again}"
    )
