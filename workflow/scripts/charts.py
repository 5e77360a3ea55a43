"""Draw the results as a whole."""

from epic.core.stage import stage
from epic.report.charts import stages, tradeoff

with stage(snakemake):
    files, pdfs = snakemake.input, snakemake.output.pdfs
    tradeoff(files.table, [snakemake.output.tradeoff, pdfs[0]])
    stages(files.table, snakemake.params.latencies, [snakemake.output.stages, pdfs[1]])
