"""Build one Lucene index."""

from epic.index import index
from epic.log import log_to

with log_to(snakemake.log[0]):
    index(snakemake.input.collection, snakemake.threads, snakemake.resources.heap_mb, snakemake.output.lucene)
