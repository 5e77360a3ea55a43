"""Take over a published run."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.corpus.replay import replay

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    replay(
        files.published, open_documents(files.manifest), files.queries, params.hits, snakemake.wildcards.row, snakemake.output.run
    )
