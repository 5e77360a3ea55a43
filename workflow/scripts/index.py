"""Build one Lucene index."""

from epic.core.stage import stage
from epic.first_stage.index import index

with stage(snakemake):
    index(snakemake.input.collection, snakemake.threads, snakemake.resources.heap_mb, snakemake.output.lucene)
