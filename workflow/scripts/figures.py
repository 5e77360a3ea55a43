"""Draw the frequency figure."""

from epic.core.stage import stage
from epic.report.figures import frequencies_figure

with stage(snakemake):
    title = f"Values in passage vectors: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    frequencies_figure(snakemake.input.counts, title, [snakemake.output.png, snakemake.output.pdf])
