"""Evaluate one run."""

from epic.core.stage import stage
from epic.evaluation.evaluate import evaluate
from epic.evaluation.measures import Measure

with stage(snakemake):
    evaluate(
        run_path=snakemake.input.run,
        answers_path=snakemake.input.answers,
        queries_path=snakemake.input.queries,
        qrels_path=snakemake.input.qrels,
        counts_path=snakemake.input.counts,
        measures=[Measure(**measure) for measure in snakemake.params.measures],
        out=snakemake.output.values,
    )
