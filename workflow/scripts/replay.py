"""Take over a published run."""

from epic.documents import open_documents
from epic.log import log_to
from epic.replay import replay

with log_to(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    replay(
        files.published, open_documents(files.manifest), files.queries, params.hits, snakemake.wildcards.row, snakemake.output.run
    )
