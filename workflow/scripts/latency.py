"""Measure the latency of one row."""

from epic.data import read_queries
from epic.latency import first_stage, measure, reranker, write_latency
from epic.log import log_to

with log_to(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    search = first_stage(files.lucene, params.first_stage, params.latency["hits"])
    with reranker(search, files, params.row, params.encode, params.compute) as time_one:
        timings = measure(read_queries(files.queries), time_one, params.latency["warm_up"], params.latency["measured"])
    write_latency(timings, params.latency, params.compute["threads"], snakemake.output.summary, snakemake.output.queries)
