"""Evaluate one run."""

from epic.evaluate import evaluate
from epic.log import log_to

with log_to(snakemake.log[0]):
    evaluate(snakemake.input.run, snakemake.input.qrels, snakemake.params.relevance, snakemake.output.values)
