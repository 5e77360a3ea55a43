"""Choose the re-ranking cut-off of a model on a first stage."""

from epic.log import log_to
from epic.records import read_qrels
from epic.rerank import head
from epic.runs import read_run
from epic.tune import curve, write_cutoff
from epic.unpruned import unpruned_run

with log_to(snakemake.log[0]):
    files, params, first = snakemake.input, snakemake.params, read_run(snakemake.input.run)
    candidates = head(first, params.max_cutoff)
    scored = unpruned_run(candidates, files.vectors, files.checkpoint, files.manifest, params.compute, params.token_budget)
    values = curve(read_qrels(files.qrels), first, scored, params.max_cutoff, params.relevance)
    write_cutoff(values, snakemake.output.cutoff)
