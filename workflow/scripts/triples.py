"""Write the training triples."""

from epic.core.log import log_to
from epic.corpus.triples import write_triples

with log_to(snakemake.log[0]):
    write_triples(
        source=snakemake.params.source,
        count=snakemake.params.total,
        files={name: snakemake.input.get(name) for name in ("manifest", "queries", "qrels", "counts", "run", "answers")},
        out=snakemake.output.triples,
        queries_out=snakemake.output.queries,
    )
