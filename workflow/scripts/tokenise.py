"""Write the word-pieces of one shard of the collection."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.model.tokens import tokenizer_of
from epic.vectors.candidates import encoded_collection
from epic.vectors.tokenise import Spoken, tokenise

with stage(snakemake):
    files, documents = snakemake.input, open_documents(snakemake.input.manifest)
    collection, beside = encoded_collection(documents, files.passages), documents if snakemake.params.batches else None
    tokenise(Spoken(tokenizer_of(files.encoder), collection, snakemake.wildcards.scatteritem, beside), snakemake.output.pieces)
