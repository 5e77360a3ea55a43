"""Fetch, check and count the documents."""

from epic.core.stage import stage
from epic.corpus.data import prepare_documents

with stage(snakemake):
    prepare_documents(snakemake.params.documents, snakemake.params.total, snakemake.output.manifest)
