"""Write the results table."""

from epic.core.stage import stage
from epic.report.table import write_table

with stage(snakemake):
    write_table(
        rows=snakemake.input.rows,
        latencies=snakemake.params.latencies,
        tests=snakemake.params.tests,
        about={key: snakemake.params[key] for key in ("title", "note", "headline", "measure")},
        outs={kind: snakemake.output[kind] for kind in ("md", "tex", "csv", "json")},
    )
