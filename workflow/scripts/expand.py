"""Write the texts that a first stage indexes."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.first_stage.deepct import sources_of
from epic.first_stage.expand import expand
from epic.first_stage.predicted_queries import source_of

with stage(snakemake):
    expand(
        documents=open_documents(snakemake.input.manifest),
        predicted=source_of(snakemake.input.predicted),
        samples=snakemake.params.samples,
        weighted=sources_of(snakemake.input.weighted),
        out=snakemake.output.collection,
    )
