"""Measure the latency of one row."""

from epic.core.files import scratch
from epic.core.log import log_to
from epic.latency.latency import System, measure, timed_queries
from epic.latency.timings import write_latency

with log_to(snakemake.log[0]):
    files, params, settings = snakemake.input, snakemake.params, snakemake.params.latency
    queries = timed_queries(files.queries, settings["warm_up"], settings["measured"])
    with scratch(snakemake.output.queries) as folder:  # for unpruned vectors; beside the results, since /tmp may be small
        system = System(files, queries, params.row, params.system | {"hits": settings["hits"]}, folder)
        timings, skipped = measure(system, queries, settings["warm_up"])
    about = {"settings": settings, "stages": system.stages}
    out = snakemake.output
    write_latency(timings, skipped, about, params.system["compute"]["threads"], out.summary, out.queries)
