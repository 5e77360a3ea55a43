"""Write the training triples."""

from epic.core.stage import stage
from epic.corpus.triples import write_triples

with stage(snakemake):
    write_triples(
        source=snakemake.params.source,
        count=snakemake.params.total,
        files={name: snakemake.input.get(name) for name in ("manifest", "queries", "qrels", "counts", "run", "answers")},
        out=snakemake.output.triples,
        queries_out=snakemake.output.queries,
    )
