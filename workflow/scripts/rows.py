"""Write the facts of one row."""

from epic.core.log import log_to
from epic.judging.rows import write_row

with log_to(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    write_row(
        row=params.row,
        settings=params.settings,
        differs=params.differs,
        query_sets=params.query_sets,
        evaluations=files.get("values", []),
        runs=files.get("runs", []),
        model=(files.cutoff, files.checkpoint) if files.get("checkpoint") else None,
        out=snakemake.output.row,
    )
