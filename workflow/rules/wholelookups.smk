"""Which files the whole of an experiment needs: the table, the claims, the figures, the report. No rules here."""


def tested_sets(wildcards):
    """Files of significance tests by query set."""
    sets = with_purpose(experiment_of(wildcards), "test")
    return {name: at(rules.significance.output.tests, wildcards, query_set=name) for name in sets}


def timed_rows(wildcards, pattern=None):
    """Latency files by row: summaries, or other files of the same pattern."""
    pattern = pattern or rules.latency.output.summary
    return {row["id"]: at(pattern, wildcards, row=row["id"]) for row in experiment_of(wildcards)["rows"] if row["kind"] in TIMED}


def timings_of(wildcards):
    """Every query's nanoseconds by row."""
    return timed_rows(wildcards, rules.latency.output.queries)


def cutoffs_of(wildcards):
    """Tuned cut-offs by model and first stage."""
    found = {}
    for row in experiment_of(wildcards)["rows"]:
        if row["kind"] == "model":
            names = {"model": row["model"], "first_stage": row["first_stage"]}
            found.setdefault(row["model"], {})[row["first_stage"]] = at(rules.tune.output.cutoff, wildcards, **names)
    return found


def by_model(wildcards):
    """Files of each model that has rows: what its training, its values and its vectors came to."""
    used = [model for model in experiment_of(wildcards)["models"] if model["id"] in cutoffs_of(wildcards)]
    trained = [model for model in used if model["loss"]]
    return {
        "histories": {model["id"]: at(rules.train.output.history, wildcards, model=model["id"]) for model in trained},
        "frequencies": {model["id"]: at(rules.frequencies.output.counts, wildcards, model=model["id"]) for model in used},
        "costs": {model["id"]: at(rules.costs.output.costs, wildcards, model=model["id"]) for model in used},
        "texts": {model["id"]: at(rules.interpret.output.texts, wildcards, model=model["id"]) for model in used},
    }


def by_row(wildcards):
    """Files of each row that is run: timings, and values on the headline query set."""
    headline = setting("evaluate", "headline")(wildcards)
    settings = experiment_of(wildcards)
    rows = [row["id"] for row in settings["rows"] if headline in sets_of(settings, row)]
    return {
        "latencies": timed_rows(wildcards),
        "timings": timings_of(wildcards),
        "values": {row: values_of(wildcards, row, headline) for row in rows},
    }


def conditions_by_model(wildcards):
    """What differs from the paper's conditions for each model; under None, where no model matters, for the first one."""
    settings = experiment_of(wildcards)
    published, documents = settings["published_on"], settings["data"]["documents"]
    encoders = {model["id"]: model["encoder"]["source"] for model in settings["models"] if model["id"] in cutoffs_of(wildcards)}
    found = {name: other_conditions(published, documents, encoder) for name, encoder in encoders.items()}
    return {None: next(iter(found.values()), []), **found}


def leaves(paths):
    """All paths of a nested dict."""
    return [leaf for value in paths.values() for leaf in (leaves(value) if isinstance(value, dict) else [value])]


def run_rows(settings):
    """Rows that are run here."""
    return [row for row in settings["rows"] if row["kind"] != "published-only"]


def figures_of(name):
    """Every figure of an experiment, as PNG: those of the paper first."""
    settings = experiment_named(name)
    models = [model["id"] for model in settings["models"]]
    trained = [model["id"] for model in settings["models"] if model["loss"]]
    shown = settings["texts"]["queries"] or settings["texts"]["passages"]
    names = [f"frequencies-{model}" for model in models] + [f"words-{model}" for model in models if shown]
    names += ["tradeoff", "pruning", "cutoffs", "stages"] + [f"training-{model}" for model in trained]
    return [f"results/{name}/figures/{figure}.png" for figure in names]


def rows_of(wildcards):
    """The facts of every row."""
    return {row["id"]: at(rules.rows.output.row, wildcards, row=row["id"]) for row in experiment_of(wildcards)["rows"]}


def report_files(wildcards):
    """What the report shows, but for its figures; by name, and within that by model, row or query set."""
    return {
        "readme": str(Path(workflow.basedir, "README.md")),
        "table": at(rules.table.output.json, wildcards),
        "claims": at(rules.claims.output.json, wildcards),
        "metadata": at(rules.metadata.output.metadata, wildcards),
        "rows": rows_of(wildcards),
        "significance": tested_sets(wildcards),
        "latencies": timed_rows(wildcards),
        "timings": timings_of(wildcards),
        "costs": by_model(wildcards)["costs"],
        "texts": by_model(wildcards)["texts"],
    }


def experiment_file(wildcards):
    """The file of an experiment."""
    experiment_of(wildcards)
    return next(path for folder in FOLDERS if (path := folder / f"{wildcards.experiment}.yaml").exists())


def query_files(wildcards):
    """Queries and judgments of every query set."""
    kinds = {"queries": rules.queries.output.queries, "qrels": rules.queries.output.qrels}
    names = [query_set["id"] for query_set in experiment_of(wildcards)["query_sets"]]
    return {f"{name}.{kind}": at(path, wildcards, query_set=name) for name in names for kind, path in kinds.items()}


def checkpoints_of(wildcards):
    """Checkpoints by model."""
    return {model: at(rules.train.output.checkpoint, wildcards, model=model) for model in cutoffs_of(wildcards)}


def commands_of(wildcards):
    """What to type: for everything, under an empty name, and for each row; nothing for a row that is not run."""
    name, gpus = wildcards.experiment, " --resources gpu=1" if gpu(wildcards) else ""
    run = {row["id"] for row in run_rows(experiment_of(wildcards))}
    rows = {
        row["id"]: f"snakemake results/{name}/rows/{row['id']}.md --cores all{gpus}" for row in experiment_of(wildcards)["rows"]
    }
    whole = f"snakemake results/{name}/report.html --cores all{gpus}"
    return {"": whole} | {row: command if row in run else None for row, command in rows.items()}


def deliverables(name):
    """What an experiment is for."""
    settings, results = EXPERIMENTS[name], f"results/{name}"
    pages = [f"{results}/rows/{row['id']}.md" for row in settings["rows"]]
    figures = figures_of(name)
    whole = [f"{results}/{file}" for file in ("claims.json", "claims.md", "metadata.json", "report.html")]
    return [f"{results}/table.{kind}" for kind in ("md", "tex", "csv", "json")] + pages + figures + whole
