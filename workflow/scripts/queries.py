"""Write one query set and its judgments as plain files."""

from epic.data import prepare_queries
from epic.documents import open_documents
from epic.log import log_to

with log_to(snakemake.log[0]):
    prepare_queries(
        dataset=snakemake.params.dataset,
        documents=open_documents(snakemake.input.manifest),
        queries_out=snakemake.output.queries,
        qrels_out=snakemake.output.qrels,
    )
