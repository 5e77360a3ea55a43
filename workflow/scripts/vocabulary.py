"""Write the vocabulary of a model."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.corpus.make_vocabulary import Sources, make_vocabulary

with stage(snakemake):
    files = snakemake.input
    sources = Sources.of(files.vocabulary, files.idf, files.vectors)
    make_vocabulary(open_documents(files.manifest), snakemake.params.settings, sources, snakemake.output.folder)
