"""Put a generator of queries into the experiment."""

from epic.core.stage import stage
from epic.first_stage.generator import prepare_generator

with stage(snakemake):
    prepare_generator(**snakemake.params.generator, out=snakemake.output.folder)
