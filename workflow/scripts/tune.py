"""Choose the re-ranking cut-off of a model on a first stage."""

from epic.core.stage import stage
from epic.corpus.query_counts import read_judgments
from epic.corpus.runs import read_whole_run
from epic.evaluation.measures import Measure
from epic.rankers import family
from epic.ranking.rerank import head
from epic.ranking.tune import curve, write_cutoff

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    first = read_whole_run(files.run, files.answers)
    scored = family(params.family).score_run(
        head(first, params.max_cutoff), files, params.compute, snakemake.resources.token_budget
    )
    measure = Measure(**params.measure)
    values = curve(read_judgments(files.qrels, files.counts), first, scored, params.max_cutoff, measure)
    write_cutoff(values, measure, snakemake.output.cutoff, params.min_cutoff)
