"""Write the documents of a first stage, expanded where it has predicted queries."""

from epic.data import open_documents
from epic.expand import expand
from epic.log import log_to

with log_to(snakemake.log[0]):
    predicted = snakemake.params.predicted or {"samples": 0}
    expand(
        documents=open_documents(snakemake.input.manifest),
        source=snakemake.input.get("predictions") or None,
        samples=predicted["samples"],
        out=snakemake.output.collection,
    )
