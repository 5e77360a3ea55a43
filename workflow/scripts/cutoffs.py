"""Draw effectiveness against the number of hits that are re-ranked."""

from epic.core.stage import stage
from epic.report.charts import cutoffs, published_cutoffs

with stage(snakemake):
    curves, published = snakemake.params.cutoffs, published_cutoffs(snakemake.input.claims)
    cutoffs(curves, published, snakemake.params.measure["name"], [snakemake.output.png, snakemake.output.pdf])
