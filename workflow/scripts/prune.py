"""Gather the shards of a model, pruned."""

from epic.core.files import read_json
from epic.core.stage import stage
from epic.vectors.prune import prune

with stage(snakemake):
    prune(
        shards=snakemake.input.shards,
        keep=int(snakemake.wildcards.keep),
        documents=read_json(snakemake.input.manifest)["count"],
        out=snakemake.output.store,
    )
