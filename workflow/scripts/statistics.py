"""Count the collection."""

from epic.analysis.statistics import write_statistics
from epic.core.log import log_to

with log_to(snakemake.log[0]):
    files, datasets = snakemake.input, snakemake.params.datasets
    write_statistics(files.manifest, files.shards, datasets, files.checkpoint, snakemake.output.collection)
