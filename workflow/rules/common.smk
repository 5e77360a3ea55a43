"""Lookups: from an output path to its experiment, model, row and runs. Nothing is computed here."""

from pathlib import Path

from epic.config import find, load_experiments, sets_of, tuning_set, validation_set, with_purpose
from epic.digest import code_digest
from epic.evaluate import reciprocal_rank
from epic.folder import MADE, folder_of, resolve
from epic.leftovers import remove_states
from epic.machine import total_memory
from epic.rates import INDEX_OF_STORE, memory_of
from epic.verdicts import other_conditions

FOLDERS = [Path(workflow.basedir, "workflow", "experiments"), Path("experiments")]
TIMED = ("first-stage", "model")  # kinds of rows that answer queries here
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
    """What torch computes on; how much memory the experiment needs changes no result, so it is no param."""
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


def memory(limit):
    """MB of memory of a job that runs the model: less than the limit where its encoder is small."""
    return lambda wildcards: min(limit, max(memory_of(model) for model in experiment_of(wildcards)["models"]))


def java_memory(wildcards):
    """Memory of a job that starts Java: its heap, and what Java and Python take beside it."""
    return experiment_of(wildcards)["compute"]["index_memory_mb"] + 2_000


def store_memory(wildcards):
    """Memory of the job that builds the document store: ir_datasets sorts all ids there."""
    return 1_000 + round(setting("data", "count")(wildcards) * INDEX_OF_STORE / 1e6)


def limit_memory():
    """On this machine, let jobs side by side claim no more memory than there is, unless the command line says how much.

    Snakemake calls it `mem_mb`, whatever the unit in `--resources` was.
    """
    if workflow.nodes is None and "mem_mb" not in workflow.global_resources:
        workflow.global_resources["mem_mb"] = total_memory() // 10**6


def at(pattern, wildcards, **more):
    """A results path of the same experiment."""
    return pattern.format(experiment=wildcards.experiment, **more)


def jobs_to_run():
    """The jobs that would run by experiment, stage by stage, described for the preflight."""
    from epic.estimates import Job

    found, order = {}, [rule.name for rule in workflow.rules]
    for job in sorted(workflow.dag.needrun_jobs(), key=lambda job: order.index(job.rule.name)):
        names, memory = dict(job.wildcards_dict), job.rule.resources.get("mem_mb")
        # Memory as it was asked for: the job itself has it cut to what may be claimed at once.
        asked = job.resources.get("gpu"), memory and memory.evaluate(job.wildcards).value
        gpus, memory = (value if isinstance(value, int) else 0 for value in asked)
        if "experiment" in names:
            facts = Job(job.rule.name, names, job.threads, gpus, memory, job.is_local, tuple(map(str, job.output)))
            found.setdefault(names["experiment"], []).append(facts)
    return found


def preflight():
    """Refuse, before any job, what this machine cannot run; where EPIC_PLAN is set, say what it would take and stop.

    Called once: the Snakemake that runs a job on a node of a cluster has no hooks.
    """
    from epic.plan import Place
    from epic.preflight import planned, refusal, survey, warnings

    limits = [workflow.global_resources.get(name) for name in ("gpu", "mem_mb")]
    gpus, memory = (limit and limit.value for limit in limits)
    where = {"cores": workflow.cores} if workflow.local_exec else {"cores": 1, "cluster_jobs": workflow.nodes}
    place = Place(gpus=gpus, memory_mb=memory, **where)
    surveys = [survey(name, experiment_named(name), jobs, place) for name, jobs in sorted(jobs_to_run().items())]
    if os.environ.get("EPIC_PLAN"):
        print(*map(planned, surveys), sep="\n")
        sys.exit()
    if refused := list(filter(None, map(refusal, surveys))):
        raise WorkflowError("\n".join(refused))
    print(*filter(None, map(warnings, surveys)), sep="\n", end="", file=sys.stderr)
