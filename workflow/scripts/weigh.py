"""Encode one query set."""

from epic.log import log_to
from epic.records import read_queries
from epic.vectors import write_vectors
from epic.weigh import query_encoder, weigh

with log_to(snakemake.log[0]):
    encode = query_encoder(snakemake.input.checkpoint, snakemake.params.compute)
    write_vectors(weigh(encode, read_queries(snakemake.input.queries)), snakemake.output.vectors)
