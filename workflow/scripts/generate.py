"""Generate the queries of one shard of the collection."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.first_stage.generate import generate_shard
from epic.first_stage.generated_parts import Parts, key_of
from epic.first_stage.query_generator import Drawing, QueryGenerator

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    generate_shard(
        generator=QueryGenerator(files.generator, Drawing(**params.drawing), **params.compute),
        documents=open_documents(files.manifest),
        shard=snakemake.wildcards.scatteritem,
        batch=snakemake.resources.batch,
        parts=Parts(params.state, key_of([params.drawing, params.compute, params.code], files), params.drawing["samples"]),
        out=snakemake.output.queries,
    )
