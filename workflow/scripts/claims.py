"""Check the sentences of the paper."""

from epic.claims import write_claims
from epic.evidence import read_evidence
from epic.log import log_to

with log_to(snakemake.log[0]):
    files, params, out = snakemake.input, snakemake.params, snakemake.output
    evidence = read_evidence(
        headline=params.headline,
        table=files.table,
        tests=files.tests,
        statistics=files.collection,
        cutoffs=params.cutoffs,
        by_model=params.by_model,
        by_row=params.by_row,
    )
    write_claims(files.claims, evidence, params.differs, params.title, params.note, {"json": out.json, "md": out.md})
