"""Run one query set through one first stage."""

from epic.core.log import log_to
from epic.first_stage.retrieve import retrieve

with log_to(snakemake.log[0]):
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
    )
