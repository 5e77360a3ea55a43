"""Reweigh the passages of one shard of the collection."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.model.deepct_counts import Form
from epic.model.device import prepare
from epic.model.term_weights import load_term_weights
from epic.vectors.reweigh import reweigh

with stage(snakemake):
    files, compute = snakemake.input, snakemake.params.compute
    device = prepare(compute["device"], compute["threads"], compute["precision"])
    reweigh(
        model=load_term_weights(files.checkpoint, snakemake.params.positions).to(device),
        documents=open_documents(files.manifest),
        shard=snakemake.wildcards.scatteritem,
        form=Form(**snakemake.params.form),
        token_budget=snakemake.resources.token_budget,
        precision=compute["precision"],
        out=snakemake.output.texts,
    )
