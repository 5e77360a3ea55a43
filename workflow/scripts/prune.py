"""Gather the shards of a model, pruned."""

from epic.core.files import read_json
from epic.core.log import log_to
from epic.vectors.prune import prune

with log_to(snakemake.log[0]):
    prune(
        shards=snakemake.input.shards,
        keep=int(snakemake.wildcards.keep),
        documents=read_json(snakemake.input.manifest)["count"],
        out=snakemake.output.store,
    )
