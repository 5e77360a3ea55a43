"""Make a collection of BoolQ's questions."""

from epic.core.log import log_to
from epic.corpus.boolq import make_boolq

with log_to(snakemake.log[0]):
    make_boolq(snakemake.output.folder)
