"""Fetch, check and count the documents."""

from epic.data import prepare_documents
from epic.log import log_to

with log_to(snakemake.log[0]):
    prepare_documents(snakemake.params.documents, snakemake.params.total, snakemake.output.manifest)
