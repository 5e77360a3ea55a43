"""Note that the turn of a model has come."""

from epic.core.files import write_json
from epic.core.stage import stage

with stage(snakemake):
    write_json(snakemake.output.turn, {"after": list(snakemake.input)})
