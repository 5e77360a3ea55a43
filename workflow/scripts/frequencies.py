"""Add up the value counts of all shards."""

from epic.core.log import log_to
from epic.vectors.frequencies import gather

with log_to(snakemake.log[0]):
    gather(snakemake.input.shards, snakemake.output.counts)
