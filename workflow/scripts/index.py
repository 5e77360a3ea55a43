"""Build one Lucene index."""

from epic.core.log import log_to
from epic.first_stage.index import index

with log_to(snakemake.log[0]):
    index(snakemake.input.collection, snakemake.threads, snakemake.resources.heap_mb, snakemake.output.lucene)
