"""Sum up the costs of a model's vectors."""

from epic.analysis.costs import write_costs
from epic.core.stage import stage

with stage(snakemake):
    files = snakemake.input
    write_costs(files.paces, files.shards[0], snakemake.params.stores, snakemake.output.costs)
