"""Draw effectiveness against the number of kept terms."""

from epic.core.stage import stage
from epic.report.charts import pruning

with stage(snakemake):
    pruning(snakemake.input.table, [snakemake.output.png, snakemake.output.pdf])
