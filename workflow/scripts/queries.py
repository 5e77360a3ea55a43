"""Write one query set and its judgments as plain files."""

from epic.core.stage import stage
from epic.corpus.data import prepare_queries
from epic.corpus.documents import open_documents

with stage(snakemake):
    prepare_queries(
        dataset=snakemake.params.dataset,
        documents=open_documents(snakemake.input.manifest),
        queries_out=snakemake.output.queries,
        qrels_out=snakemake.output.qrels,
        counts_out=snakemake.output.counts,
    )
