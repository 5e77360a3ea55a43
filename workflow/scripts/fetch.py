"""Download one published file."""

from epic.core.stage import stage
from epic.corpus.fetch import fetch

with stage(snakemake):
    download = snakemake.params.download
    fetch(download["urls"], download.get("md5") or download["sha256"], snakemake.output.file)
