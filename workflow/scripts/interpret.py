"""Weigh the words of some texts."""

from epic.analysis.interpret import write_interpretation
from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.first_stage.predicted_queries import source_of
from epic.model.epic import load_model

with stage(snakemake):
    params = snakemake.params
    write_interpretation(
        model=load_model(snakemake.input.checkpoint, params.compute),
        documents=open_documents(snakemake.input.manifest),
        texts=params.texts,
        qrels_paths=params.qrels,
        predicted=(source_of(snakemake.input.predicted), params.samples),
        block=snakemake.resources.vocabulary_block,
        out=snakemake.output.texts,
    )
