"""Draw the results as a whole."""

from epic.core.log import log_to
from epic.report.charts import stages, tradeoff

with log_to(snakemake.log[0]):
    files, pdfs = snakemake.input, snakemake.output.pdfs
    tradeoff(files.table, [snakemake.output.tradeoff, pdfs[0]])
    stages(files.table, snakemake.params.latencies, [snakemake.output.stages, pdfs[1]])
