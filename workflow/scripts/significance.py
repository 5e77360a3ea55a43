"""Test all declared comparisons of one query set."""

from epic.core.log import log_to
from epic.evaluation.significance import write_tests

with log_to(snakemake.log[0]):
    write_tests(
        families=snakemake.params.families,
        paths=snakemake.params.values,
        counts=snakemake.input.counts,
        metric=snakemake.params.metric,
        alpha=snakemake.params.alpha,
        out=snakemake.output.tests,
    )
