"""Draw effectiveness against the number of kept terms."""

from epic.core.log import log_to
from epic.report.charts import pruning

with log_to(snakemake.log[0]):
    pruning(snakemake.input.table, [snakemake.output.png, snakemake.output.pdf])
