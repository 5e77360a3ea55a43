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
        measures=snakemake.params.measures,
        out=snakemake.output.values,
    )
