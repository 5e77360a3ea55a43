"""Draw the frequency figure."""

from epic.figures import frequencies_figure
from epic.log import log_to

with log_to(snakemake.log[0]):
    title = f"Values in passage vectors: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    frequencies_figure(snakemake.input.counts, title, [snakemake.output.png, snakemake.output.pdf])
