"""Evaluate one run."""

from epic.core.stage import stage
from epic.evaluation.evaluate import evaluate

with stage(snakemake):
    evaluate(
        run_path=snakemake.input.run,
        queries_path=snakemake.input.queries,
        qrels_path=snakemake.input.qrels,
        hits=snakemake.params.hits,
        relevance=snakemake.params.relevance,
        out=snakemake.output.values,
    )
