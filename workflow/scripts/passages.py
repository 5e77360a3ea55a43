"""Find the passages that are candidates of any query."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.vectors.candidates import write_passages

with stage(snakemake):
    documents = open_documents(snakemake.input.manifest)
    write_passages(zip(snakemake.input.runs, snakemake.params.depths, strict=True), documents, snakemake.output.positions)
