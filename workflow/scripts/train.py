"""Train one model."""

from functools import partial

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.evaluation.measures import Measure
from epic.experiment.settings import TrainSettings
from epic.model.device import prepare
from epic.rankers import family
from epic.training.card import model_card, with_sha256
from epic.training.examples import Examples
from epic.training.history import write_histories
from epic.training.members import train_all
from epic.training.resume import State, key_of
from epic.training.validation import open_validation

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    settings = TrainSettings(**params.train, validation_token_budget=snakemake.resources.token_budget)
    model, kind = params.model, family(params.model["family"])
    ranker = kind.create(files.encoder or files.vocabulary, model, files.start, prepare(params.device, settings.threads))
    examples = Examples(files.triples, files.queries, open_documents(files.manifest)) if model["loss"] else None
    judged = open_validation(files, settings, Measure(**params.measure))
    state = State(params.state, key_of([model, params.train, params.device, params.measure, params.code], files))
    course = train_all(kind, ranker, examples, judged, settings, model["loss"], model["seed"], state)
    facts = snakemake.wildcards.experiment, with_sha256(model, files.encoder), params.data, params.train, judged.measure.name
    said = kind.card(model) | {"remarks": course.remarks}
    kind.save(ranker, snakemake.output.checkpoint, partial(model_card, said, *facts, course.histories))
    write_histories(course.histories, snakemake.output.history)
