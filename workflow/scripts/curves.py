"""Draw the course of training."""

from epic.figures import training_figure
from epic.log import log_to

with log_to(snakemake.log[0]):
    title = f"Training: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    training_figure(snakemake.input.history, title, [snakemake.output.png, snakemake.output.pdf])
