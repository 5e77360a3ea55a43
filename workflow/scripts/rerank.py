"""Re-rank one query set for one row."""

from epic.files import read_json
from epic.log import log_to
from epic.lookup import rescore
from epic.rerank import head, rerank
from epic.runs import read_run, write_run

with log_to(snakemake.log[0]):
    files, params, first = snakemake.input, snakemake.params, read_run(snakemake.input.run)
    candidates = head(first, read_json(files.cutoff)["cutoff"])
    inputs = files.vectors, files.checkpoint, files.store, files.manifest
    scored = rescore(candidates, *inputs, params.compute, params.token_budget)
    write_run(snakemake.output.run, rerank(first, scored, params.tail), snakemake.wildcards.row)
