"""Write what a first stage indexes."""

from epic.documents import open_documents
from epic.expand import expand, source_of
from epic.log import log_to

with log_to(snakemake.log[0]):
    expand(
        documents=open_documents(snakemake.input.manifest),
        predicted=source_of(snakemake.input.predicted),
        samples=snakemake.params.samples,
        weighted=source_of(snakemake.input.weighted),
        out=snakemake.output.collection,
    )
