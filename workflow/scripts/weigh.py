"""Encode one query set."""

from epic.core.stage import stage
from epic.corpus.text_files import read_queries
from epic.model.query_vector import write_vectors
from epic.model.weigh import query_vectors

with stage(snakemake):
    vectors = query_vectors(snakemake.input.checkpoint, snakemake.params.compute, read_queries(snakemake.input.queries))
    write_vectors(vectors, snakemake.output.vectors)
