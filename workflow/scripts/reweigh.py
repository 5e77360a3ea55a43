"""Reweigh the passages of one shard of the collection."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.first_stage.deepct_counts import Form
from epic.model.device import prepare
from epic.model.term_weights import load_term_weights
from epic.vectors.reweigh import reweigh

with stage(snakemake):
    files, compute, weigh = snakemake.input, snakemake.params.compute, snakemake.params.weigh
    device = prepare(compute["device"], compute["threads"], compute["precision"])
    reweigh(
        model=load_term_weights(files.checkpoint, snakemake.params.positions).to(device),
        documents=open_documents(files.manifest),
        shard=snakemake.wildcards.scatteritem,
        form=Form(weigh["scale"], weigh["form"], weigh["keep_all"]),
        token_budget=weigh["token_budget"],
        precision=compute["precision"],
        out=snakemake.output.texts,
    )
