"""Which files a job needs: lookups from an output path to input paths, for data and models. No rules here."""


def files_of(dataset, *kinds):
    """Files of a path: dataset, so that editing them reruns what depends on them; none for an ir_datasets id."""
    folder = folder_of(dataset)
    return [str(getattr(folder, kind)) for kind in kinds] if folder else []


def download_of(wildcards):
    """The download that the output path names."""
    downloads = {download["file"]: download for download in experiment_of(wildcards)["downloads"]}
    if wildcards.file not in downloads:
        raise WorkflowError(
            f"{wildcards.experiment} downloads no {wildcards.file}; it downloads {', '.join(downloads) or 'nothing'}"
        )
    return downloads[wildcards.file]


def file_of(wildcards, source):
    """The file that download:FILE or path:FILE means."""
    kind, _, name = source.partition(":")
    return at(rules.fetch.output.file, wildcards, file=name) if kind == "download" else str(resolve(name))


def predictions_of(wildcards):
    """The files of predicted queries of a first stage, so that editing one is noticed; nothing where it has none."""
    predicted = item_of(wildcards, "first_stage", wildcards.first_stage)["predicted_queries"]
    if predicted is None:
        return []
    found = Path(file_of(wildcards, predicted["source"]))
    return sorted(map(str, found.iterdir())) if found.is_dir() else str(found)


def start_of(wildcards):
    """The authors' weights of a model that starts from them; nothing for one that starts from its encoder."""
    start = item_of(wildcards, "model", wildcards.model)["start"]
    return [] if start is None else file_of(wildcards, start["source"])


def triples_inputs(wildcards):
    """Nothing for published docpairs; queries, judgments and run where triples are sampled."""
    source = experiment_of(wildcards)["triples"]
    if source["source"] == "docpairs":
        return {}
    names = {"query_set": source["query_set"], "first_stage": source["first_stage"]}
    return {
        "queries": at(rules.queries.output.queries, wildcards, **names),
        "qrels": at(rules.queries.output.qrels, wildcards, **names),
        "run": at(rules.retrieve.output.run, wildcards, **names),
    }


def validation(pattern):
    """A file of the validation queries, for the first stage that training validates on."""

    def lookup(wildcards):
        settings = experiment_of(wildcards)
        query_set = with_purpose(settings, "validation")[0]
        first_stage = wildcards.get("first_stage", settings["train"]["validation_first_stage"])
        return at(pattern, wildcards, query_set=query_set, first_stage=first_stage, model=wildcards.get("model"))

    return lookup


def validation_relevance(wildcards):
    """The lowest grade that counts for the validation queries."""
    settings = experiment_of(wildcards)
    return find(settings["query_sets"], with_purpose(settings, "validation")[0])["relevance"]


def shards_of(wildcards):
    """All encoded shards of a model, in document order."""
    experiment_of(wildcards)  # refuses an unknown one
    scattered = getattr(gather, wildcards.experiment)
    return scattered(rules.encode.output.vectors, experiment=wildcards.experiment, model=wildcards.model)
