"""Write down the experiment as it is run."""

from epic.core.files import write_text
from epic.core.places import placeless
from epic.core.stage import stage
from epic.experiment.expansion import as_yaml

with stage(snakemake):
    write_text(snakemake.output.yaml, as_yaml(placeless(snakemake.params.settings)))
