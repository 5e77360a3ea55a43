"""Choose the re-ranking cut-off of a model on a first stage."""

from epic.core.stage import stage
from epic.corpus.runs import read_run
from epic.corpus.text_files import read_qrels
from epic.rankers import family
from epic.ranking.rerank import head
from epic.ranking.tune import curve, write_cutoff

with stage(snakemake):
    files, params, first = snakemake.input, snakemake.params, read_run(snakemake.input.run)
    scored = family(params.family).score_run(head(first, params.max_cutoff), files, params.compute, params.token_budget)
    values = curve(read_qrels(files.qrels), first, scored, params.max_cutoff, params.relevance)
    write_cutoff(values, snakemake.output.cutoff)
