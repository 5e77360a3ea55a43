"""Measure the latency of one row, or of all rows together."""

from types import SimpleNamespace

from epic.core.files import replacing, scratch
from epic.core.machine import machine
from epic.core.stage import stage
from epic.latency.latency import Bench, System, about, asked_of, java_version, measure, timed_queries
from epic.latency.timings import write_latency

with stage(snakemake):
    params, shared, out = snakemake.params, snakemake.params.latency, snakemake.output.folder
    encode = {name: getattr(snakemake.resources, name) for name in ("token_budget", "vocabulary_block")}
    settings = {row: found | {"encode": encode} for row, found in params.systems.items()}
    queries = timed_queries(snakemake.input.queries, shared["warm_up"], shared["measured"])
    asked = {row: asked_of(queries, shared, found["queries"]) for row, found in settings.items()}
    with scratch(f"{out}.vectors") as folder:  # for unpruned vectors; beside the results, since /tmp may be small
        bench, files = Bench(folder), {row: SimpleNamespace(**found) for row, found in params.files.items()}
        systems = {row: System(files[row], asked[row].all, params.rows[row], settings[row], bench) for row in files}
        found = measure(systems, queries, asked)
    where = machine() | {"threads": params.threads, "java": java_version()}
    with replacing(out) as draft:
        draft.mkdir()
        for row, (timings, skipped) in found.items():
            facts = about(row, systems, shared, settings[row])
            write_latency(timings, skipped, facts, where, draft / f"{row}.json", draft / f"{row}.tsv")
