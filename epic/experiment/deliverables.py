"""The deliverables of an experiment: its files, figures and the commands that make them."""

from collections.abc import Callable, Collection

from epic.experiment.lookup import keeps_stores, models_with_rows, run_rows
from epic.experiment.measurements import TOGETHER, measurement_of, rows_timed

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


def models_asked_for(name: str, settings: dict, targets: Collection[str]) -> list[str]:
    """List the models whose pages are among the targets of a command."""
    return [model for model in models_with_rows(settings)["all"] if f"results/{name}/models/{model}.md" in targets]


def measurement_asked_for(
    name: str, settings: dict, row: str, targets: Collection[str], is_there: Callable[[str], bool] = lambda timed: False
) -> str:
    """Return the measurement that a row's page shows: of the whole experiment, of its model, or of this row by itself.

    The first if all rows are asked for, the second if its model's page is. A row that is asked for by itself is timed by itself,
    unless vectors are not kept and `is_there` tells that it was timed with others: it cannot be timed again without them.
    """
    own, asked = measurement_of(settings, row), models_asked_for(name, settings, targets)
    if asks_for_all_rows(name, targets) or own in asked or (not keeps_stores(settings) and is_there(own)):
        return own
    return next((model for model in asked if row in [timed["id"] for timed in rows_timed(settings, model)]), row)


def measurement_of_page(name: str, settings: dict, model: str, targets: Collection[str]) -> str:
    """Return the measurement that a model's page shows: of all rows, if they are asked for and timed together, or of its own."""
    return TOGETHER if keeps_stores(settings) and asks_for_all_rows(name, targets) else model


def commands_of(name: str, settings: dict) -> dict[str, str | None]:
    """Return the command to type: for everything, under an empty name, and for each row; None for a row that is not run."""
    gpus = _gpus(settings)
    run = {row["id"] for row in run_rows(settings)}
    rows = {row["id"]: f"snakemake results/{name}/rows/{row['id']}.md --cores all{gpus}" for row in settings["rows"]}
    whole = f"snakemake results/{name}/report.html --cores all{gpus}"
    return {"": whole} | {row: command if row in run else None for row, command in rows.items()}


def vectors_again(name: str, settings: dict, model: str) -> str:
    """Return the command that makes the vectors of a model again, and everything that follows from them."""
    return f"{model_command(name, settings, model)} --forcerun encode"


def model_command(name: str, settings: dict, model: str) -> str:
    """Return the command to type for a model's page."""
    return f"snakemake results/{name}/models/{model}.md --cores all{_gpus(settings)}"


def _gpus(settings: dict) -> str:
    return " --resources gpu=1" if settings["compute"]["device"] == "cuda" else ""


def deliverables(name: str, settings: dict) -> list[str]:
    """List the files that an experiment is run for."""
    results = f"results/{name}"
    pages = [f"{results}/rows/{row['id']}.md" for row in settings["rows"]]
    pages += [f"{results}/models/{model}.md" for model in models_with_rows(settings)["all"]]
    figures = figure_files(name, settings)
    whole = [f"{results}/{file}" for file in ("claims.json", "claims.md", "metadata.json", "experiment.yaml", "report.html")]
    return [f"{results}/table.{kind}" for kind in ("md", "tex", "csv", "json")] + pages + figures + whole
