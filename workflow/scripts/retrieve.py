"""Run one query set through one first stage."""

from epic.core.stage import stage
from epic.first_stage.retrieve import retrieve

with stage(snakemake):
    retrieve(
        index=snakemake.input.lucene,
        queries=snakemake.input.queries,
        counts=snakemake.input.counts,
        **snakemake.params.bm25,
        hits=snakemake.params.hits,
        threads=snakemake.threads,
        memory_mb=snakemake.resources.heap_mb,
        out=snakemake.output.run,
        answers_out=snakemake.output.answers,
        state=snakemake.params.state,
        code=snakemake.params.code,
    )
