"""Gather the pairs of query and passage that a model's unpruned rows may ask for."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.vectors.candidates import QuerySet, write_candidates

with stage(snakemake):
    files, out = snakemake.input, snakemake.output.folder
    query_sets = [QuerySet(**facts) for facts in snakemake.params.query_sets]
    write_candidates(query_sets, open_documents(files.manifest), files.passages, out)
