"""Draw effectiveness against the number of hits that are re-ranked."""

from epic.core.log import log_to
from epic.report.charts import cutoffs, published_cutoffs

with log_to(snakemake.log[0]):
    curves, published = snakemake.params.cutoffs, published_cutoffs(snakemake.input.claims)
    cutoffs(curves, published, [snakemake.output.png, snakemake.output.pdf])
