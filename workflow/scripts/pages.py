"""Render one row as a page."""

from epic.log import log_to
from epic.rows import render_row

with log_to(snakemake.log[0]):
    render_row(
        row_path=snakemake.input.row,
        latency_path=snakemake.input.get("latency") or None,
        significance_paths=snakemake.input.get("tests", []),
        note=snakemake.params.note,
        out=snakemake.output.page,
    )
