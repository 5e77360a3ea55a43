"""Draw texts on a background as dark as their weights."""

from epic.core.stage import stage
from epic.report.words import words_figure

with stage(snakemake):
    title = f"What matters: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    words_figure(snakemake.input.texts, title, [snakemake.output.png, snakemake.output.pdf])
