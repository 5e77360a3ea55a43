"""Evaluate one run."""

from epic.core.stage import stage
from epic.evaluation.evaluate import evaluate

with stage(snakemake):
    evaluate(
        run_path=snakemake.input.run,
        answers_path=snakemake.input.answers,
        queries_path=snakemake.input.queries,
        qrels_path=snakemake.input.qrels,
        counts_path=snakemake.input.counts,
        hits=snakemake.params.hits,
        relevance=snakemake.params.relevance,
        out=snakemake.output.values,
    )
