"""Test the difference between two rows."""

from epic.log import log_to
from epic.significance import compare

with log_to(snakemake.log[0]):
    compare(
        system_path=snakemake.input.system,
        baseline_path=snakemake.input.baseline,
        metric="RR@10",
        alpha=snakemake.params.alpha,
        out=snakemake.output.test,
    )
