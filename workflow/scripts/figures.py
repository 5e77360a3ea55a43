"""Draw the frequency figure."""

from epic.core.log import log_to
from epic.report.figures import frequencies_figure

with log_to(snakemake.log[0]):
    title = f"Values in passage vectors: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    frequencies_figure(snakemake.input.counts, title, [snakemake.output.png, snakemake.output.pdf])
