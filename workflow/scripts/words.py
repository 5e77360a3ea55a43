"""Draw texts on a background as dark as their weights."""

from epic.core.log import log_to
from epic.report.words import words_figure

with log_to(snakemake.log[0]):
    title = f"What matters: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    words_figure(snakemake.input.texts, title, [snakemake.output.png, snakemake.output.pdf])
