"""Render one row as a page."""

from epic.core.log import log_to
from epic.report.row_page import render_row

with log_to(snakemake.log[0]):
    render_row(
        row_path=snakemake.input.row,
        latency_path=snakemake.input.get("latency") or None,
        tests=snakemake.params.tests,
        alpha=snakemake.params.alpha,
        note=snakemake.params.note,
        command=snakemake.params.command,
        out=snakemake.output.page,
    )
