"""Download one published file."""

from epic.core.stage import stage
from epic.corpus.fetch import fetch

with stage(snakemake):
    fetch(snakemake.params.download["urls"], snakemake.params.download["md5"], snakemake.output.file)
