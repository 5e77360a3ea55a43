"""Draw the course of training."""

from epic.core.stage import stage
from epic.report.figures import training_figure

with stage(snakemake):
    title = f"Training: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    training_figure(snakemake.input.history, title, snakemake.params.measure, [snakemake.output.png, snakemake.output.pdf])
