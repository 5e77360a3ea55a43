"""Write one row: its facts, and a page about it."""

from epic.core.stage import stage
from epic.judging.rows import write_row
from epic.report.row_page import render_row

with stage(snakemake):
    files, params, out = snakemake.input, snakemake.params, snakemake.output
    write_row(
        row=params.row,
        settings=params.settings,
        differs=params.differs,
        depths=params.depths,
        evaluated=tuple(files.get(name, []) for name in ("values", "answers", "counts")),
        runs=files.get("runs", []),
        model=(files.get("cutoff"), files.checkpoint) if files.get("checkpoint") else None,
        out=out.row,
    )
    render_row(out.row, params.latency or None, params.tests, params.alpha, params.note, params.command, out.page)
