"""Encode one shard of the collection."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.experiment.settings import EncodeSettings
from epic.model.checkpoint import model_digest
from epic.model.epic import load_model
from epic.vectors.encode import encode_shard
from epic.vectors.throughput import write_pace

with stage(snakemake):
    compute, at_a_time = snakemake.params.compute, snakemake.resources
    seconds = encode_shard(
        model=load_model(snakemake.input.checkpoint, compute),
        digest=model_digest(snakemake.input.checkpoint),
        documents=open_documents(snakemake.input.manifest),
        shard=snakemake.wildcards.scatteritem,
        settings=EncodeSettings(
            **snakemake.params.encode, token_budget=at_a_time.token_budget, vocabulary_block=at_a_time.vocabulary_block
        ),
        out=snakemake.output.vectors,
    )
    write_pace(seconds, compute, snakemake.output.vectors, snakemake.output.pace)
