"""Gather the shards of a model, pruned."""

from epic.core.stage import stage
from epic.vectors.candidates import count_of
from epic.vectors.prune import prune

with stage(snakemake):
    prune(
        shards=snakemake.input.shards,
        keep=int(snakemake.wildcards.keep),
        documents=count_of(snakemake.input.manifest, snakemake.input.passages),
        out=snakemake.output.store,
    )
