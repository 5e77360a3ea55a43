"""Draw the results as a whole."""

from epic.charts import cutoffs, pruning, published_cutoffs, stages, tradeoff
from epic.log import log_to

with log_to(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    pngs = [snakemake.output[name] for name in ("tradeoff", "pruning", "cutoffs", "stages")]
    outs = list(zip(pngs, snakemake.output.pdfs, strict=True))
    tradeoff(files.table, outs[0])
    pruning(files.table, outs[1])
    cutoffs(params.cutoffs, published_cutoffs(files.claims), outs[2])
    stages(files.table, params.latencies, outs[3])
