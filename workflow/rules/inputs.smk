"""Paths of the inputs that `epic.experiment.inputs` names, as files of this workflow. Nothing else is decided here."""

from epic.core.places import from_here
from epic.corpus.folder import MADE, dataset_of, file_of, files_of
from epic.experiment import encoding, first_stage_inputs, inputs, of_model, one_pass, vector_inputs, word_inputs
from epic.experiment.wanted import Dataset, Output, Shards, Source, Within, folders


def resolved(wanted, wildcards):
    """Return the paths of the wanted inputs, in the same nesting."""
    if isinstance(wanted, Output):
        rule_name, name = wanted.name.split(".")
        return at(getattr(rules, rule_name).output[name], wildcards, **wanted.wildcards)
    if isinstance(wanted, Within):
        return f"{resolved(wanted.folder, wildcards)}/{wanted.name}"
    if isinstance(wanted, Shards):
        rule_name, name = wanted.name.split(".")
        scattered, pattern = getattr(gather, wildcards.experiment), getattr(rules, rule_name).output[name]
        return scattered(pattern, experiment=wildcards.experiment, **wanted.of)
    if isinstance(wanted, Source):
        found = Path(file_of(wanted.name, lambda file: at(rules.fetch.output.file, wildcards, file=file), wanted.meant))
        return sorted(map(str, found.iterdir())) if found.is_dir() else str(found)
    if isinstance(wanted, Dataset):  # files of a folder: editing them reruns the jobs that depend on them
        return at(rules.boolq.output.folder, wildcards) if wanted.name.startswith(MADE) else files_of(wanted.name, *wanted.kinds)
    if isinstance(wanted, dict):
        return {key: resolved(value, wildcards) for key, value in wanted.items()}
    return [resolved(value, wildcards) for value in wanted] if isinstance(wanted, list) else wanted


def files(function, *names):
    """Return the paths of the inputs that a function names, given the experiment and `names` in the output path."""

    return lambda wildcards: refusing(wildcards, resolved, of_settings(function, *names)(wildcards), wildcards)


def all_of(*functions, by=()):
    """Return the inputs that some functions name, without nesting: for a file inside a folder that a rule makes, the folder."""

    def paths(wildcards):
        named = [folders(of_settings(function, *by)(wildcards)) for function in functions]
        return list(dict.fromkeys(lookup.leaves(refusing(wildcards, resolved, named, wildcards))))

    return paths


def page_latency(wildcards):
    """Name the latency of a row's page, of a measurement that the command asks for."""
    settings, asked = experiment_of(wildcards), (wildcards.experiment, experiment_of(wildcards))
    is_there = lambda timed: Path(at(rules.latency.output.folder, wildcards, timed=timed)).exists()
    timed = lambda row: deliverables.measurement_asked_for(*asked, row, targets(), is_there)
    return inputs.page_latency(settings, wildcards.row, timed)


def model_page(wildcards):
    """Name what a model's page shows, with latencies of the measurement that the command asks for."""
    asked = wildcards.experiment, experiment_of(wildcards), wildcards.model
    item_of(wildcards, "model")
    timed = deliverables.measurement_of_page(*asked, targets())
    return refusing(wildcards, of_model.showing, *asked[1:], timed)


def waits_for(wildcards):
    """Return what a model's turn waits for; a Snakemake on a node of a cluster runs a single job, and waits for nothing."""
    all_rows = deliverables.asks_for_all_rows(wildcards.experiment, targets())
    wanted = of_model.waiting(experiment_of(wildcards), wildcards.model, all_rows and workflow.is_main_process)
    return resolved(wanted, wildcards)


def pieces(wildcards):
    """Return the word-pieces of the shard that the output path names."""
    encoder = refusing(wildcards, encoding.encoder_of, experiment_of(wildcards), wildcards.model)
    return at(rules.tokenise.output.pieces, wildcards, encoder=encoder, scatteritem=wildcards.scatteritem)


def in_one_pass(wildcards, model):
    """Tell whether a model's candidates are scored while its passages are encoded."""
    return one_pass.in_one_pass(wildcards.experiment, experiment_of(wildcards), model, targets())


def candidates(wildcards):
    """Return the candidates that encoding scores, if it does; `ancient`: others than before are no reason to encode again."""
    folder = at(rules.candidates.output.folder, wildcards, model=wildcards.model)
    return ancient(folder) if in_one_pass(wildcards, wildcards.model) else []


def scored(wildcards):
    """Return the candidates of a model and the shards that hold their scores; nothing where the model itself scores them."""
    (model,) = model_named(wildcards)
    if lookup.is_pruned(item_of(wildcards, "row") if "row" in wildcards.keys() else {}) or not in_one_pass(wildcards, model):
        return {"candidates": [], "scored": []}
    return resolved(vector_inputs.scored(experiment_of(wildcards), model), wildcards)


def timing(wildcards):
    """Return the files that each row of a measurement needs at query time, by row."""
    settings, passes = experiment_of(wildcards), lambda model: in_one_pass(wildcards, model)
    return resolved(refusing(wildcards, inputs.timing, settings, wildcards.timed, passes), wildcards)


def gpus_of_scoring(wildcards):
    """Return the GPUs of a job that scores a run: none where it only reads vectors, or scores of shards that are yet to be made."""
    row = item_of(wildcards, "row") if "row" in wildcards.keys() else {}
    shards = scored(wildcards)["scored"]  # those that are there may have been asked for other candidates
    return 0 if shards and not Path(shards[0]).exists() else lookup.gpus_of_reranking(experiment_of(wildcards), row)


def dataset(name_of):
    """Return a dataset by a name that needs no experiment."""
    return lambda wildcards: dataset_of(name_of(wildcards), wildcards.experiment)


def model_named(wildcards):
    """Return the model that the output path names, by itself or by its row, in a list."""
    return [wildcards.get("model") or item("row")(wildcards).get("model")]


def experiment_file(wildcards):
    """Return the file of an experiment."""
    experiment_of(wildcards)
    return next(from_here(path) for folder in FOLDERS if (path := folder / f"{wildcards.experiment}.yaml").exists())
