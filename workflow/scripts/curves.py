"""Draw the course of training."""

from epic.core.stage import stage
from epic.report.figures import training_figure

with stage(snakemake):
    title = f"Training: {snakemake.wildcards.experiment}, model {snakemake.wildcards.model}"
    measure, outs = snakemake.params.measure["name"], [snakemake.output.png, snakemake.output.pdf]
    training_figure(snakemake.input.history, title, measure, outs)
