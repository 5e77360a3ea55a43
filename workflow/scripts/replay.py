"""Take over a published run."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.corpus.replay import replay

with stage(snakemake):
    replay(
        source=snakemake.input.published,
        documents=open_documents(snakemake.input.manifest),
        queries_path=snakemake.input.queries,
        hits=snakemake.params.hits,
        tag=snakemake.wildcards.row,
        out=snakemake.output.run,
        answers_out=snakemake.output.answers,
    )
