"""Encode one shard of the collection."""

from epic.config import EncodeSettings
from epic.documents import open_documents
from epic.encode import encode_shard
from epic.inference import load_model
from epic.log import log_to
from epic.pace import write_pace
from epic.store import model_digest

with log_to(snakemake.log[0]):
    compute = snakemake.params.compute
    seconds = encode_shard(
        model=load_model(snakemake.input.checkpoint, compute),
        digest=model_digest(snakemake.input.checkpoint),
        documents=open_documents(snakemake.input.manifest),
        shard=snakemake.wildcards.scatteritem,
        settings=EncodeSettings(**snakemake.params.encode),
        out=snakemake.output.vectors,
    )
    write_pace(seconds, compute, snakemake.output.vectors, snakemake.output.pace)
