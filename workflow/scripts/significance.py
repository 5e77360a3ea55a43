"""Test all declared comparisons of one query set."""

from epic.core.stage import stage
from epic.evaluation.significance import write_tests

with stage(snakemake):
    write_tests(
        families=snakemake.params.families,
        paths=snakemake.params.values,
        counts=snakemake.input.counts,
        metric=snakemake.params.metric,
        alpha=snakemake.params.alpha,
        out=snakemake.output.tests,
    )
