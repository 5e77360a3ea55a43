"""Download one published file."""

from epic.core.log import log_to
from epic.corpus.fetch import fetch

with log_to(snakemake.log[0]):
    fetch(snakemake.params.download["urls"], snakemake.params.download["md5"], snakemake.output.file)
