"""Train one model."""

from epic.compute import prepare
from epic.config import TrainSettings
from epic.data import open_documents, read_queries
from epic.log import log_to
from epic.model import Epic
from epic.train import open_validation, train, write_history
from epic.triples import read_triples

with log_to(snakemake.log[0]):
    files, settings, seed = snakemake.input, TrainSettings(**snakemake.params.train), snakemake.params.model["seed"]
    device = prepare(snakemake.params.compute["device"], settings.threads)
    model = Epic.from_encoder(files.encoder, seed).to(device)
    validation = open_validation(
        *(files.validation_queries, files.validation_qrels, files.validation_run),
        *(settings.validation_hits, snakemake.params.token_budget),
    )
    documents, triples, queries = open_documents(files.manifest), read_triples(files.triples), read_queries(files.queries)
    history = train(model, triples, queries, documents, validation, settings, seed)
    model.save_pretrained(snakemake.output.checkpoint)
    write_history(history, snakemake.output.history)
