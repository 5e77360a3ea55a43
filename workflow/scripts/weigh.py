"""Encode one query set."""

from epic.core.stage import stage
from epic.corpus.text_files import read_queries
from epic.model.query_vector import write_vectors
from epic.model.weigh import query_encoder, weigh

with stage(snakemake):
    encode = query_encoder(snakemake.input.checkpoint, snakemake.params.compute)
    write_vectors(weigh(encode, read_queries(snakemake.input.queries)), snakemake.output.vectors)
