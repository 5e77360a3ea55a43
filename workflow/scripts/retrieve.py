"""Run one query set through one first stage."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.corpus.replay import replay
from epic.first_stage.retrieve import retrieve

with stage(snakemake):
    files, params, out = snakemake.input, snakemake.params, snakemake.output
    if files.published:
        documents, tag = open_documents(files.manifest), snakemake.wildcards.first_stage
        replay(files.published, documents, files.queries, params.hits, tag, out.run, out.answers)
    else:
        retrieve(
            index=files.lucene,
            queries=files.queries,
            counts=files.counts,
            **params.bm25,
            hits=params.hits,
            threads=snakemake.threads,
            memory_mb=snakemake.resources.heap_mb,
            out=out.run,
            answers_out=out.answers,
            state=params.state,
            code=params.code,
        )
