"""Remove the vectors of a model."""

from epic.core.stage import stage
from epic.vectors.discard import discard_vectors

with stage(snakemake):
    files = snakemake.input
    discard_vectors([*files.shards, *files.stores], snakemake.params.again, snakemake.output.discarded)
