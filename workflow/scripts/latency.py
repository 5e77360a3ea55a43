"""Measure the latency of one row."""

import os

from epic.latency import first_stage, measure, reranker, timed_queries, write_latency
from epic.log import log_to

with log_to(snakemake.log[0]):
    files, params, settings = snakemake.input, snakemake.params, snakemake.params.latency
    queries = timed_queries(files.queries, settings["warm_up"], settings["measured"])
    scratch = os.path.dirname(snakemake.output.summary)
    search = first_stage(files.lucene, params.first_stage, settings["hits"])
    with reranker(search, queries, files, params.row, params.encode, params.compute, scratch) as time_one:
        timings = measure(queries, time_one, settings["warm_up"])
    write_latency(timings, settings, params.compute["threads"], snakemake.output.summary, snakemake.output.queries)
