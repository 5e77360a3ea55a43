"""Write the documents of a first stage, expanded where it has predicted queries."""

from epic.documents import open_documents
from epic.expand import expand, source_of
from epic.log import log_to

with log_to(snakemake.log[0]):
    expand(
        documents=open_documents(snakemake.input.manifest),
        source=source_of(snakemake.input.predictions),
        samples=snakemake.params.samples,
        out=snakemake.output.collection,
    )
