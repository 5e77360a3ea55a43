"""Measure the latency of one row."""

import os
import tempfile

from epic.latency import measure, timed_queries
from epic.log import log_to
from epic.timed import System
from epic.timings import write_latency

with log_to(snakemake.log[0]):
    files, params, settings = snakemake.input, snakemake.params, snakemake.params.latency
    queries = timed_queries(files.queries, settings["warm_up"], settings["measured"])
    with tempfile.TemporaryDirectory(dir=os.path.dirname(snakemake.output.summary), prefix=".dense-") as scratch:
        system = System(files, queries, params.row, params.system | {"hits": settings["hits"]}, scratch)
        timings, skipped = measure(system, queries, settings["warm_up"])
    out = snakemake.output
    write_latency(timings, skipped, settings, params.system["compute"]["threads"], out.summary, out.queries)
