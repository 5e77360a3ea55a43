"""A stage as a job runs it: its log, inputs that are what was written, outputs that are sealed."""

from contextlib import contextmanager

from epic.core import seals
from epic.core.log import log_to


@contextmanager
def stage(job):
    """Run the body of a script for a job (Snakemake's own object: log, input, output, rule).

    An input that differs from what its stage wrote is refused before anything is computed from it.
    """
    with log_to(job.log[0]):
        seals.unseal(job.output)
        seals.check(job.input)
        yield
        seals.seal(job.output, job.rule)
