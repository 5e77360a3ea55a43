"""Draw the course of training."""

from epic.core.log import log_to
from epic.report.figures import training_figure

with log_to(snakemake.log[0]):
    title = f"Training: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    training_figure(snakemake.input.history, title, [snakemake.output.png, snakemake.output.pdf])
