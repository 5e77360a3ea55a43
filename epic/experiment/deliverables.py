"""The deliverables of an experiment: its files, figures and the commands that make them."""

from collections.abc import Collection

from epic.experiment.lookup import models_with_rows, run_rows

OF_ALL_ROWS = ("table.", "claims.", "report.html", *(f"figures/{name}." for name in ("tradeoff", "stages", "pruning", "cutoffs")))


def figures_of(settings: dict) -> list[str]:
    """List every figure of an experiment: those of the paper first."""
    models = models_with_rows(settings)
    shown = settings["texts"]["queries"] or settings["texts"]["passages"]
    whole = settings["encode"]["passages"] == "all"  # else nothing is known of most values
    names = [f"frequencies-{model}" for model in models["precomputing"] if whole]
    names += [f"words-{model}" for model in models["precomputing"] if shown]
    names += ["tradeoff", *(["pruning"] if models["precomputing"] else []), *(["cutoffs"] if models["all"] else []), "stages"]
    return names + [f"training-{model}" for model in models["trained"]]


def figure_files(name: str, settings: dict) -> list[str]:
    """List the files of every figure, as PNG."""
    return [f"results/{name}/figures/{figure}.png" for figure in figures_of(settings)]


def asks_for_all_rows(name: str, targets: Collection[str]) -> bool:
    """Tell whether the targets of a command need every row of an experiment: then all rows are timed together.

    A target is a file, or a rule that is called like its experiment; no target is the paper.
    """
    whole = {name, *(["all"] if name == "paper" else [])}
    files = tuple(f"results/{name}/{file}" for file in OF_ALL_ROWS)
    return any(target in whole or target.startswith(files) for target in targets or ["all"])


def commands_of(name: str, settings: dict) -> dict[str, str | None]:
    """Return the command to type: for everything, under an empty name, and for each row; None for a row that is not run."""
    gpus = " --resources gpu=1" if settings["compute"]["device"] == "cuda" else ""
    run = {row["id"] for row in run_rows(settings)}
    rows = {row["id"]: f"snakemake results/{name}/rows/{row['id']}.md --cores all{gpus}" for row in settings["rows"]}
    whole = f"snakemake results/{name}/report.html --cores all{gpus}"
    return {"": whole} | {row: command if row in run else None for row, command in rows.items()}


def deliverables(name: str, settings: dict) -> list[str]:
    """List the files that an experiment is run for."""
    results = f"results/{name}"
    pages = [f"{results}/rows/{row['id']}.md" for row in settings["rows"]]
    figures = figure_files(name, settings)
    whole = [f"{results}/{file}" for file in ("claims.json", "claims.md", "metadata.json", "experiment.yaml", "report.html")]
    return [f"{results}/table.{kind}" for kind in ("md", "tex", "csv", "json")] + pages + figures + whole
