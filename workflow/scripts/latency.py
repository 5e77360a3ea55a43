"""Measure the latency of one row."""

from epic.files import scratch
from epic.latency import measure, timed_queries
from epic.log import log_to
from epic.timed import System
from epic.timings import write_latency

with log_to(snakemake.log[0]):
    files, params, settings = snakemake.input, snakemake.params, snakemake.params.latency
    queries = timed_queries(files.queries, settings["warm_up"], settings["measured"])
    with scratch(snakemake.output.queries) as folder:  # unpruned vectors: beside the results, /tmp may be small
        system = System(files, queries, params.row, params.system | {"hits": settings["hits"]}, folder)
        timings, skipped = measure(system, queries, settings["warm_up"])
    out = snakemake.output
    write_latency(timings, skipped, settings, params.system["compute"]["threads"], out.summary, out.queries)
