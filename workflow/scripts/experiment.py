"""Write down the experiment as it is run."""

from epic.core.files import write_text
from epic.core.log import log_to
from epic.core.places import placeless
from epic.experiment.expansion import as_yaml

with log_to(snakemake.log[0]):
    write_text(snakemake.output.yaml, as_yaml(placeless(snakemake.params.settings)))
