"""Sum up what the vectors of a model cost."""

from epic.costs import write_costs
from epic.log import log_to

with log_to(snakemake.log[0]):
    files = snakemake.input
    write_costs(files.paces, files.shards[0], snakemake.params.stores, snakemake.output.costs)
