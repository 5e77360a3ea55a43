"""Which files a job needs: lookups from an output path to input paths. Used by the rule files; no rules here."""


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


def row_here(wildcards):
    """The row that the output path names, which must be one that is run here."""
    row = item_of(wildcards, "row", wildcards.row)
    if row["kind"] == "published-only":
        raise WorkflowError(f"row {row['id']} of {wildcards.experiment} is of the kind published-only: it is not run here")
    return row


def run_of(wildcards, query_set):
    """The run a row is scored on: re-ranked, or the first stage's own."""
    row = row_here(wildcards)
    if row["kind"] == "model":
        return at(rules.rerank.output.run, wildcards, row=row["id"], query_set=query_set)
    return at(rules.retrieve.output.run, wildcards, first_stage=row["first_stage"], query_set=query_set)


def model_row(wildcards):
    """The row that the output path names, which must be one that re-ranks."""
    row = item_of(wildcards, "row", wildcards.row)
    if row["kind"] != "model":
        raise WorkflowError(
            f"row {row['id']} of {wildcards.experiment} is of the kind {row['kind']}: there is nothing to re-rank"
        )
    return row


def of_row(pattern):
    """A file of the row's model and first stage."""

    def lookup(wildcards):
        row = model_row(wildcards)
        names = {"model": row["model"], "first_stage": row["first_stage"], "query_set": wildcards.get("query_set")}
        return at(pattern, wildcards, **names)

    return lookup


def store_of(wildcards):
    """The store of a pruned row; nothing where all terms are kept."""
    row = model_row(wildcards)
    return [] if row["keep"] == "full" else at(rules.prune.output.store, wildcards, model=row["model"], keep=row["keep"])


def model_jobs(what):
    """Threads or GPUs of a row: an unpruned one runs the model, a pruned one only looks vectors up."""
    full = {"threads": setting("compute", "threads"), "gpu": gpu}[what]
    return lambda wildcards: full(wildcards) if model_row(wildcards)["keep"] == "full" else int(what == "threads")


def timed_inputs(wildcards):
    """What a row needs at query time."""
    row = row_here(wildcards)
    queries = experiment_of(wildcards)["latency"]["query_set"]
    names = {"first_stage": row["first_stage"], "query_set": queries, "model": row.get("model")}
    found = {
        "lucene": at(rules.index.output.lucene, wildcards, **names),
        "queries": at(rules.queries.output.queries, wildcards, **names),
    }
    if row["kind"] == "model":
        found["manifest"] = at(rules.data.output.manifest, wildcards)
        found["checkpoint"] = at(rules.train.output.checkpoint, wildcards, **names)
        found["cutoff"] = at(rules.tune.output.cutoff, wildcards, **names)
        found["store"] = store_of(wildcards)
        found["run"] = [] if found["store"] else at(rules.retrieve.output.run, wildcards, **names)
    return found


def scored_sets(wildcards):
    """Query sets that a row is scored on; none for a row that is not run."""
    row = item_of(wildcards, "row", wildcards.row)
    return [] if row["kind"] == "published-only" else with_purpose(experiment_of(wildcards), "test")


def row_inputs(wildcards):
    """Evaluations and runs of a row, and its cut-off if it re-ranks; nothing for a row that is not run."""
    row, sets = item_of(wildcards, "row", wildcards.row), scored_sets(wildcards)
    if not sets:
        return {}
    found = {
        "values": [at(rules.evaluate.output.values, wildcards, row=row["id"], query_set=name) for name in sets],
        "runs": [run_of(wildcards, name) for name in sets],
    }
    if row["kind"] == "model":
        found["cutoff"] = of_row(rules.tune.output.cutoff)(wildcards)
        found["checkpoint"] = of_row(rules.train.output.checkpoint)(wildcards)
    return found


def row_settings(wildcards):
    """What a reader needs to know to repeat the row."""
    settings, row = experiment_of(wildcards), item_of(wildcards, "row", wildcards.row)
    found = {key: row[key] for key in ("keep",) if key in row}
    if "first_stage" in row:
        found["first_stage"] = item_of(wildcards, "first_stage", row["first_stage"])
    if "model" in row:
        found |= {"model": item_of(wildcards, "model", row["model"]), "tail": settings["rerank"]["tail"]}
    return found


def test_of(wildcards, comparison, query_set):
    """The test of a declared comparison."""
    names = {"row": comparison["system"], "baseline": comparison["baseline"], "query_set": query_set}
    return at(rules.significance.output.test, wildcards, **names)


def tests_of(wildcards):
    """Declared tests of a row against its own first stage, on every test query set."""
    settings, row = experiment_of(wildcards), item_of(wildcards, "row", wildcards.row)
    first_stages = [other for other in settings["rows"] if other["kind"] == "first-stage"]
    own = [other["id"] for other in first_stages if other["first_stage"] == row.get("first_stage")]
    return [
        test_of(wildcards, comparison, query_set)
        for comparison in settings["comparisons"]
        for query_set in with_purpose(settings, "test")
        if comparison["system"] == row["id"] and comparison["baseline"] in own
    ]


def comparisons_of(wildcards):
    """Declared comparisons on every test query set, each with the path of its test."""
    settings = experiment_of(wildcards)
    return [
        comparison | {"query_set": name, "path": test_of(wildcards, comparison, name)}
        for name in with_purpose(settings, "test")
        for comparison in settings["comparisons"]
    ]


def timed_rows(wildcards):
    """Latency files by row."""
    return {row["id"]: at(rules.latency.output.summary, wildcards, row=row["id"]) for row in run_rows(experiment_of(wildcards))}


def run_rows(settings):
    """Rows that are run here."""
    return [row for row in settings["rows"] if row["kind"] != "published-only"]


def deliverables(name):
    """What an experiment is for."""
    settings, results = EXPERIMENTS[name], f"results/{name}"
    pages = [f"{results}/rows/{row['id']}.md" for row in settings["rows"]]
    figures = [f"{results}/figures/frequencies-{model['id']}.png" for model in settings["models"]]
    figures += [f"{results}/figures/training-{model['id']}.png" for model in settings["models"] if model["loss"]]
    return [f"{results}/table.{kind}" for kind in ("md", "tex", "csv", "json")] + pages + figures
