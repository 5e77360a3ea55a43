"""Encode one query set."""

from epic.compute import prepare
from epic.data import read_queries
from epic.log import log_to
from epic.model import Epic
from epic.vectors import write_vectors
from epic.weigh import weigh

with log_to(snakemake.log[0]):
    device = prepare(snakemake.params.compute["device"], snakemake.params.compute["threads"])
    model = Epic.from_pretrained(snakemake.input.checkpoint, device)
    write_vectors(weigh(model, read_queries(snakemake.input.queries)), snakemake.output.vectors)
