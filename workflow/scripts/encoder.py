"""Put the pre-trained encoder of a model into the experiment."""

from epic.encoder import prepare_encoder
from epic.log import log_to

with log_to(snakemake.log[0]):
    prepare_encoder(**snakemake.params.encoder, out=snakemake.output.folder)
