"""Fetch, check and count the documents."""

from epic.core.log import log_to
from epic.corpus.data import prepare_documents

with log_to(snakemake.log[0]):
    prepare_documents(snakemake.params.documents, snakemake.params.total, snakemake.output.manifest)
