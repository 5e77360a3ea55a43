"""Encode one shard of the collection."""

from epic.compute import prepare
from epic.config import EncodeSettings
from epic.data import open_documents
from epic.encode import encode_shard
from epic.log import log_to
from epic.model import Epic
from epic.store import model_digest

with log_to(snakemake.log[0]):
    device = prepare(snakemake.params.compute["device"], snakemake.params.compute["threads"])
    encode_shard(
        model=Epic.from_pretrained(snakemake.input.checkpoint, device),
        digest=model_digest(snakemake.input.checkpoint),
        documents=open_documents(snakemake.input.manifest),
        shard=snakemake.wildcards.scatteritem,
        settings=EncodeSettings(**snakemake.params.encode),
        out=snakemake.output.vectors,
    )
