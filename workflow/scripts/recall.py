"""Write the labels that a weighter is trained on."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.first_stage.recall import write_recall

with stage(snakemake):
    write_recall(snakemake.input, snakemake.params.relevance, open_documents(snakemake.input.manifest), snakemake.output.labels)
