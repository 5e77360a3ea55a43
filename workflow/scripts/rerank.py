"""Re-rank one query set for one row."""

from epic.core.files import read_json
from epic.core.stage import stage
from epic.corpus.runs import read_whole_run, write_run
from epic.rankers import family
from epic.ranking.rerank import head, rerank, scores_of

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    first = read_whole_run(files.run, files.answers)
    candidates = head(first, read_json(files.cutoff)["cutoff"])
    scored = scores_of(family(params.family), candidates, files, params.compute, snakemake.resources.token_budget)
    write_run(snakemake.output.run, rerank(first, scored, params.tail), snakemake.wildcards.row)
