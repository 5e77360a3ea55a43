"""Check the sentences of the paper."""

from epic.core.stage import stage
from epic.judging.claims import write_claims
from epic.judging.evidence import read_evidence

with stage(snakemake):
    files, params, out = snakemake.input, snakemake.params, snakemake.output
    evidence = read_evidence(
        evaluated={key: params[key] for key in ("headline", "measure", "selection")},
        table=files.table,
        tests=files.tests,
        statistics=files.collection,
        cutoffs=params.cutoffs,
        by_model=params.by_model,
        by_row=params.by_row,
    )
    outs = {"json": out.json, "md": out.md}
    write_claims(files.claims, evidence, params.differs, params.families, params.title, params.note, outs)
