"""Lookups: from an output path to its experiment, model, row and runs. Nothing is computed here."""

from pathlib import Path

from epic.config import find, load_experiments, with_purpose
from epic.digest import code_digest
from epic.evaluate import reciprocal_rank
from epic.folder import folder_of, resolve
from epic.leftovers import remove_states
from epic.verdicts import other_conditions

FOLDERS = [Path(workflow.basedir, "workflow", "experiments"), Path("experiments")]
EXPERIMENTS = load_experiments(FOLDERS, Path(workflow.basedir, "workflow", "schemas", "experiment.schema.yaml"))


# None may hold a slash. What does not exist is refused by the lookups, with a list of what does.
wildcard_constraints:
    experiment="[^/]+",
    model="[^/]+",
    row="[^/]+",
    baseline="[^/]+",
    first_stage="[^/]+",
    query_set="[^/]+",
    keep=r"\d+",
    file="[^/]+",


scattergather:
    **{name: settings["encode"]["shards"] for name, settings in EXPERIMENTS.items()},


def experiment_named(name):
    """An experiment, or the list of those there are."""
    if name not in EXPERIMENTS:
        raise WorkflowError(f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def experiment_of(wildcards):
    """The experiment that the output path names."""
    return experiment_named(wildcards.experiment)


def setting(*keys):
    """Value at `keys` in the experiment that the output path names."""

    def lookup(wildcards):
        value = experiment_of(wildcards)
        for key in keys:
            value = value[key]
        return value

    return lookup


def item_of(wildcards, kind, name):
    """The model, row, first stage or query set that the output path names."""
    try:
        return find(experiment_of(wildcards)[f"{kind}s"], name, f"{kind.replace('_', ' ')} in {wildcards.experiment}:")
    except ValueError as error:
        raise WorkflowError(str(error)) from error


def item(kind, *keys):
    """The item of a kind that the output path names, or its value at `keys`."""

    def lookup(wildcards):
        value = item_of(wildcards, kind, wildcards[kind])
        for key in keys:
            value = value[key]
        return value

    return lookup


def compute(wildcards):
    """What torch computes on; the experiment's needs of disk and memory change no result, so they are no params."""
    settings = experiment_of(wildcards)["compute"]
    return {key: settings[key] for key in ("device", "threads", "precision")}


def code(stage):
    """Digest of a stage's script and of the modules it imports; a change reruns the stage."""
    return code_digest(Path(workflow.basedir, "workflow", "scripts", f"{stage}.py"))


def stage_digests():
    """The digest of every script: metadata are written anew when any of them changes."""
    return {script.stem: code(script.stem) for script in sorted(Path(workflow.basedir, "workflow", "scripts").glob("*.py"))}


def gpu(wildcards):
    """GPUs of a job that runs the model."""
    return int(experiment_of(wildcards)["compute"]["device"] == "cuda")


def java_memory(wildcards):
    """Memory of a job that starts Java: its heap, and what Java and Python take beside it."""
    return experiment_of(wildcards)["compute"]["index_memory_mb"] + 2_000


def at(pattern, wildcards, **more):
    """A results path of the same experiment."""
    return pattern.format(experiment=wildcards.experiment, **more)


def preflight():
    """Refuse, before any job, what this machine cannot run; on a cluster, what the submitting host cannot."""
    from epic.preflight import Jobs, checks, refusal

    found = {}
    for job in workflow.dag.needrun_jobs():
        if "experiment" in job.wildcards_dict:
            jobs = found.setdefault(job.wildcards_dict["experiment"], Jobs(set(), set()))
            jobs.rules.add(job.rule.name)
            jobs.gpus.add(job.resources.get("gpu", 0) if workflow.local_exec else 0)  # the scheduler finds a node that has one
    refused = [refusal(name, checks(EXPERIMENTS[name], jobs, Path("results", name))) for name, jobs in sorted(found.items())]
    if any(refused):
        raise WorkflowError("\n".join(filter(None, refused)))
