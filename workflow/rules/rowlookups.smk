"""Which files a row of the table needs: the second part of the lookups. No rules here."""


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
    if row["kind"] == "run-file":
        return at(rules.replay.output.run, wildcards, row=row["id"], query_set=query_set)
    return at(rules.retrieve.output.run, wildcards, first_stage=row["first_stage"], query_set=query_set)


def published_run(wildcards):
    """The file of a published run."""
    row = item_of(wildcards, "row", wildcards.row)
    sources = {run["query_set"]: run["source"] for run in row.get("runs", [])}
    if wildcards.query_set not in sources:
        raise WorkflowError(f"row {row['id']} of {wildcards.experiment} has no published run of {wildcards.query_set}")
    return file_of(wildcards, sources[wildcards.query_set])


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


def reranking_gpu(wildcards):
    """GPUs of a row: an unpruned one runs the model, a pruned one only looks vectors up."""
    return gpu(wildcards) if model_row(wildcards)["keep"] == "full" else 0


def timed_row(wildcards):
    """The row that the output path names, which must be one that answers queries here."""
    row = row_here(wildcards)
    if row["kind"] not in TIMED:
        raise WorkflowError(f"row {row['id']} of {wildcards.experiment} is a published run: there is nothing to time")
    return row


def timed_inputs(wildcards):
    """What a row needs at query time."""
    row = timed_row(wildcards)
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


def timed_settings(wildcards):
    """How a row is set up at query time."""
    encode = experiment_of(wildcards)["encode"]
    return {
        "first_stage": item_of(wildcards, "first_stage", row_here(wildcards)["first_stage"]),
        "encode": {key: encode[key] for key in ("token_budget", "vocabulary_block")},
        "compute": compute(wildcards),
    }


def scored_sets(wildcards):
    """Query sets that a row is scored on; none for a row that is not run."""
    return sets_of(experiment_of(wildcards), item_of(wildcards, "row", wildcards.row))


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


def conditions_of(wildcards):
    """What differs, for a row, from the conditions of its published values."""
    settings, row = experiment_of(wildcards), item_of(wildcards, "row", wildcards.row)
    encoder = item_of(wildcards, "model", row["model"])["encoder"]["source"] if "model" in row else None
    return other_conditions(settings["published_on"], settings["data"]["documents"], encoder)


def values_of(wildcards, row, query_set):
    """Per-query values of a row."""
    return at(rules.evaluate.output.values, wildcards, row=row, query_set=query_set)


def families_of(wildcards):
    """Declared comparisons of the query set; a published run may be of another one."""
    settings = experiment_of(wildcards)
    scored = {row["id"] for row in settings["rows"] if wildcards.query_set in sets_of(settings, row)}
    found = [family | {"pairs": [pair for pair in family["pairs"] if scored >= set(pair)]} for family in settings["comparisons"]]
    return [family for family in found if family["pairs"]]


def compared_values(wildcards):
    """Per-query values of all rows that a declared comparison names, by row."""
    rows = dict.fromkeys(row for family in families_of(wildcards) for pair in family["pairs"] for row in pair)
    return {row: values_of(wildcards, row, wildcards.query_set) for row in rows}


def tests_of(wildcards):
    """Declared tests of a row against its own first stage, on every test query set; one row needs no other comparison."""
    settings, row = experiment_of(wildcards), item_of(wildcards, "row", wildcards.row)
    first_stages = [other for other in settings["rows"] if other["kind"] == "first-stage"]
    own = [other["id"] for other in first_stages if other["first_stage"] == row.get("first_stage")]
    declared = [pair for family in settings["comparisons"] for pair in family["pairs"]]
    return [
        {
            "baseline_id": baseline,
            "query_set": query_set,
            "metric": metric_of(wildcards, query_set),
            "system": values_of(wildcards, system, query_set),
            "baseline": values_of(wildcards, baseline, query_set),
        }
        for system, baseline in declared
        for query_set in with_purpose(settings, "test")
        if system == row["id"] and baseline in own
    ]


def metric_of(wildcards, query_set):
    """The measure that a query set's systems are compared by."""
    return reciprocal_rank(item_of(wildcards, "query_set", query_set)["relevance"])
