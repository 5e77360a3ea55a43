"""Write the facts of one row."""

from epic.log import log_to
from epic.rows import write_row

with log_to(snakemake.log[0]):
    write_row(
        row=snakemake.params.row,
        settings=snakemake.params.settings,
        query_sets=snakemake.params.query_sets,
        evaluations=snakemake.input.get("values", []),
        runs=snakemake.input.get("runs", []),
        cutoff_path=snakemake.input.get("cutoff"),
        checkpoint=snakemake.input.get("checkpoint"),
        out=snakemake.output.row,
    )
