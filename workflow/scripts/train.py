"""Train one model."""

from epic.card import save_checkpoint
from epic.compute import prepare
from epic.config import TrainSettings
from epic.documents import open_documents
from epic.examples import Examples
from epic.history import write_history
from epic.log import log_to
from epic.start import starting_model
from epic.state import State, key_of
from epic.train import train
from epic.validation import open_validation

with log_to(snakemake.log[0]):
    files, params, settings = snakemake.input, snakemake.params, TrainSettings(**snakemake.params.train)
    model = starting_model(files.encoder, params.model, files.start, prepare(params.device, settings.threads))
    examples = Examples(files.triples, files.queries, open_documents(files.manifest))
    judged = open_validation(files, settings, params.relevance)
    state = State(params.state, key_of([params.model, params.train, params.device, params.relevance, params.code], files))
    history = train(model, examples, judged, settings, params.model["loss"], params.model["seed"], state)
    facts = snakemake.wildcards.experiment, params.model, params.data, params.train, history
    save_checkpoint(model, snakemake.output.checkpoint, *facts)
    write_history(history, snakemake.output.history)
