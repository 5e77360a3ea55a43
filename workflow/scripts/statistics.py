"""Count the collection."""

from epic.analysis.statistics import write_statistics
from epic.core.stage import stage

with stage(snakemake):
    files, datasets = snakemake.input, snakemake.params.datasets
    write_statistics(files.manifest, files.shards, datasets, files.checkpoint, snakemake.output.collection)
