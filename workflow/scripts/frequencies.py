"""Add up the value counts of all shards."""

from epic.core.stage import stage
from epic.vectors.frequencies import gather

with stage(snakemake):
    gather(snakemake.input.shards, snakemake.output.counts)
