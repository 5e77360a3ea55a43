"""Put the pre-trained encoder of a model into the experiment."""

from epic.core.log import log_to
from epic.model.encoder import prepare_encoder

with log_to(snakemake.log[0]):
    prepare_encoder(**snakemake.params.encoder, out=snakemake.output.folder)
