"""Measure the latency of one row, or of all rows together."""

from types import SimpleNamespace

from epic.core.files import replacing, scratch
from epic.core.machine import machine
from epic.core.stage import stage
from epic.latency.latency import Bench, System, java_version, measure, timed_queries
from epic.latency.timings import write_latency

with stage(snakemake):
    params, settings, out = snakemake.params, snakemake.params.latency, snakemake.output.folder
    encode = {name: getattr(snakemake.resources, name) for name in ("token_budget", "vocabulary_block")}
    queries = timed_queries(snakemake.input.queries, settings["warm_up"], settings["measured"])
    with scratch(f"{out}.vectors") as folder:  # for unpruned vectors; beside the results, since /tmp may be small
        bench = Bench(folder)
        systems = {
            row: System(SimpleNamespace(**files), queries, params.rows[row], params.systems[row] | {"encode": encode}, bench)
            for row, files in params.files.items()
        }
        found = measure(systems, queries, settings["warm_up"])
    where = machine() | {"threads": params.threads, "java": java_version()}
    with replacing(out) as draft:
        draft.mkdir()
        for row, (timings, skipped) in found.items():
            about = {"settings": settings, "together": list(systems), "stages": systems[row].stages}
            write_latency(timings, skipped, about, where, draft / f"{row}.json", draft / f"{row}.tsv")
