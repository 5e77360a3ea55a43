"""Draw the results as a whole."""

from epic.core.stage import stage
from epic.report.stages import stages
from epic.report.tradeoff import tradeoff

with stage(snakemake):
    files, params, pdfs = snakemake.input, snakemake.params, snakemake.output.pdfs
    tradeoff(files.table, [snakemake.output.tradeoff, pdfs[0]])
    stages(files.table, params.latencies, params.before, params.costs, [snakemake.output.stages, pdfs[1]])
