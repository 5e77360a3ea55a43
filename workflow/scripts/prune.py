"""Gather the shards of a model, pruned."""

from epic.files import read_json
from epic.log import log_to
from epic.prune import prune

with log_to(snakemake.log[0]):
    prune(
        shards=snakemake.input.shards,
        keep=int(snakemake.wildcards.keep),
        documents=read_json(snakemake.input.manifest)["count"],
        out=snakemake.output.store,
    )
