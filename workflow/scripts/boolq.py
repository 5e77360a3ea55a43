"""Make a collection of BoolQ's questions."""

from epic.core.stage import stage
from epic.corpus.boolq import make_boolq

with stage(snakemake):
    make_boolq(snakemake.output.folder)
