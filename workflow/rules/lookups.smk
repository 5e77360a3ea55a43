"""Which files a job needs: lookups from an output path to input paths, for data and models. No rules here."""


def dataset_of(wildcards, name):
    """A dataset by a name that needs no experiment: made:STAGE is the folder that a stage of this one makes."""
    return f"path:results/{wildcards.experiment}/{name.removeprefix(MADE)}" if name.startswith(MADE) else name


def files_of(wildcards, name, *kinds):
    """Files of a path: dataset, so that editing them reruns what depends on them; none for an ir_datasets id."""
    if name.startswith(MADE):
        return [at(rules.boolq.output.folder, wildcards)]
    folder = folder_of(name)
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


def files_of_stage(key):
    """The files of predicted queries or weighted texts of a first stage; nothing where it has none."""

    def lookup(wildcards):
        published = item("first_stage", key)(wildcards)
        if published is None:
            return []
        found = Path(file_of(wildcards, published["source"]))
        return sorted(map(str, found.iterdir())) if found.is_dir() else str(found)

    return lookup


def start_of(wildcards):
    """The authors' weights of a model that starts from them; nothing for one that starts from its encoder."""
    start = item_of(wildcards, "model", wildcards.model)["start"]
    return [] if start is None else file_of(wildcards, start["source"])


def triples_inputs(wildcards):
    """The files of a folder's docpairs; queries, judgments and run where triples are sampled."""
    source = experiment_of(wildcards)["triples"]
    if source["source"] == "docpairs":
        return {"published": files_of(wildcards, source["dataset"], "docpairs", "queries")}
    names = {"query_set": source["query_set"], "first_stage": source["first_stage"]}
    return {
        "queries": at(rules.queries.output.queries, wildcards, **names),
        "qrels": at(rules.queries.output.qrels, wildcards, **names),
        "run": at(rules.retrieve.output.run, wildcards, **names),
    }


def validation(pattern):
    """A file of the queries that training is validated on, for the first stage that it names."""

    def lookup(wildcards):
        settings = experiment_of(wildcards)
        names = {"query_set": validation_set(settings), "first_stage": settings["train"]["validation_first_stage"]}
        return at(pattern, wildcards, model=wildcards.model, **names)

    return lookup


def tuning(pattern):
    """A file of the queries that the cut-off is chosen on, for the first stage that the output path names."""

    def lookup(wildcards):
        names = {"query_set": tuning_set(experiment_of(wildcards)), "first_stage": wildcards.first_stage}
        return at(pattern, wildcards, model=wildcards.model, **names)

    return lookup


def relevance_of(query_set):
    """The lowest grade that counts for the validation or the tuning queries."""

    def lookup(wildcards):
        settings = experiment_of(wildcards)
        return find(settings["query_sets"], query_set(settings))["relevance"]

    return lookup


def shards_of(wildcards, model=None, pattern=None):
    """All encoded shards of a model, in document order, or other files of theirs."""
    experiment_of(wildcards)  # refuses an unknown one
    scattered = getattr(gather, wildcards.experiment)
    pattern = pattern or rules.encode.output.vectors
    return scattered(pattern, experiment=wildcards.experiment, model=model or wildcards.model)


def first_model(wildcards):
    """The model whose tokenizer counts word-pieces; all of an experiment's have the same."""
    return experiment_of(wildcards)["models"][0]["id"]


def stores_of(wildcards):
    """All stores of a model by the number of kept terms, the widest first."""
    rows = [row for row in experiment_of(wildcards)["rows"] if row.get("model") == wildcards.model and row["keep"] != "full"]
    widths = sorted({row["keep"] for row in rows}, reverse=True)
    return {keep: at(rules.prune.output.store, wildcards, model=wildcards.model, keep=keep) for keep in widths}


def shown_qrels(wildcards):
    """Judgments that name a passage to be shown, by query set."""
    passages = experiment_of(wildcards)["texts"]["passages"]
    names = dict.fromkeys(passage["query_set"] for passage in passages if isinstance(passage, dict))
    return {name: at(rules.queries.output.qrels, wildcards, query_set=name) for name in names}


def expanded_collection(wildcards):
    """The first collection with predicted queries; nothing where there is none."""
    stages = [stage["id"] for stage in experiment_of(wildcards)["first_stages"] if stage["predicted_queries"]]
    return at(rules.expand.output.collection, wildcards, first_stage=stages[0]) if stages else []
