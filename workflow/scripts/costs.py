"""Sum up the costs of a model's vectors."""

from epic.analysis.costs import write_costs
from epic.core.log import log_to

with log_to(snakemake.log[0]):
    files = snakemake.input
    write_costs(files.paces, files.shards[0], snakemake.params.stores, snakemake.output.costs)
