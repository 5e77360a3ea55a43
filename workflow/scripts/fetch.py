"""Download one published file."""

from epic.fetch import fetch
from epic.log import log_to

with log_to(snakemake.log[0]):
    fetch(snakemake.params.urls, snakemake.params.md5, snakemake.output.file)
