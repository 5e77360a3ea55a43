"""Fetch, check and count the documents."""

from epic.core.stage import stage
from epic.corpus.data import prepare_documents

with stage(snakemake):
    params = snakemake.params
    prepare_documents(params.documents, params.total, snakemake.output.manifest, params.field)
