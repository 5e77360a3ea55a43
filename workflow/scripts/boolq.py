"""Make a collection of BoolQ's questions."""

from epic.boolq import make_boolq
from epic.log import log_to

with log_to(snakemake.log[0]):
    make_boolq(snakemake.output.folder)
