"""Add up the value counts of all shards."""

from epic.frequencies import gather
from epic.log import log_to

with log_to(snakemake.log[0]):
    gather(snakemake.input.shards, snakemake.output.counts)
