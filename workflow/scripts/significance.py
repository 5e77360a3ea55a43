"""Test all declared comparisons of one query set."""

from epic.log import log_to
from epic.significance import write_tests

with log_to(snakemake.log[0]):
    write_tests(
        families=snakemake.params.families,
        paths=snakemake.params.values,
        metric=snakemake.params.metric,
        alpha=snakemake.params.alpha,
        out=snakemake.output.tests,
    )
