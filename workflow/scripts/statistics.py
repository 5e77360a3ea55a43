"""Count the collection."""

from epic.log import log_to
from epic.statistics import write_statistics

with log_to(snakemake.log[0]):
    files, datasets = snakemake.input, snakemake.params.datasets
    write_statistics(files.shards, datasets, files.checkpoint, snakemake.output.collection)
