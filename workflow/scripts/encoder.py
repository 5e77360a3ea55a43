"""Put the pre-trained encoder of a model into the experiment."""

from epic.core.stage import stage
from epic.model.encoder import prepare_encoder

with stage(snakemake):
    prepare_encoder(**snakemake.params.encoder, out=snakemake.output.folder)
