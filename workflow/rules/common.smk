"""Experiments, wildcards, and what rules say about themselves: settings, digests of code, resources. Nothing is computed here."""

from functools import cache
from pathlib import Path

from snakemake.logging import logger

from epic.core.code_digest import code_digest
from epic.core.machine import total_memory
from epic.experiment import conditions, deliverables, digests, generation, lookup, measurements, trained, weighting
from epic.experiment.check import sound_and_broken
from epic.planning import generating, rates, repair

FOLDERS = [Path(ROOT, "workflow", "experiments"), Path("experiments")]
SCRIPTS = Path(ROOT, "workflow", "scripts")


def refusal(text):
    """Return an error for Snakemake, and tell the screen its words: Snakemake would show them inside a traceback."""
    logger.error(text, extra={"refusal": True})
    return WorkflowError(text)


try:
    EXPERIMENTS, BROKEN = sound_and_broken(FOLDERS)  # settings by name, and reasons by name
except ValueError as error:
    raise refusal(str(error)) from None

for reason in BROKEN.values() if workflow.is_main_process else ():
    logger.warning(f"left out: {reason}", extra={"remark": True})  # a command that asks for it is refused with the reason alone


wildcard_constraints:
    **dict.fromkeys("experiment model encoder weighter row timed first_stage query_set file".split(), "[^/]+"),
    **dict.fromkeys(("keep", "first"), r"[1-9]\d*"),


scattergather:
    **{name: settings["encode"]["shards"] for name, settings in EXPERIMENTS.items()},


def experiment_named(name):
    """Return an experiment; refuse one that is broken, with the reason, and one that does not exist, with those there are."""
    if name not in EXPERIMENTS:
        raise refusal(BROKEN.get(name) or f"there is no experiment {name}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def experiment_of(wildcards):
    """Return the experiment that the output path names."""
    return experiment_named(wildcards.experiment)


def deliverables_of(name):
    """List the files that an experiment is run for, once they are asked for."""
    return lambda wildcards: deliverables.deliverables(name, experiment_named(name))


family_digest = cache(digests.family_digest)  # of hundreds of jobs, a few differ


def setting(*keys):
    """Look up the value at `keys` in the experiment that the output path names."""
    return lambda wildcards: lookup.value_at(experiment_of(wildcards), keys)


def refusing(wildcards, function, *arguments):
    """Return the result of a lookup; its refusal becomes one line, no traceback."""
    try:
        return function(*arguments)
    except ValueError as error:
        raise refusal(f"{wildcards.experiment}: {error}") from error


def item_of(wildcards, kind, name=None):
    """Return the model, row, first stage or query set that the output path names, or the one called `name`."""
    items = experiment_of(wildcards)[f"{kind}s"]
    return refusing(wildcards, lookup.find, items, name or wildcards[kind], kind.replace("_", " "))


def item(kind, *keys):
    """Look up the item of a kind that the output path names, or its value at `keys`."""
    return lambda wildcards: lookup.value_at(item_of(wildcards, kind), keys)


def of_settings(function, *names):
    """Apply a lookup to the experiment and to names in the output path."""
    return lambda wildcards: refusing(wildcards, function, experiment_of(wildcards), *(wildcards[name] for name in names))


def of_row(function):
    """Apply a lookup to the row that the output path names."""
    return lambda wildcards: function(experiment_of(wildcards), item_of(wildcards, "row"))


def at(pattern, wildcards, **more):
    """Return a results path of the same experiment."""
    return pattern.format(experiment=wildcards.experiment, **more)


def code(stage):
    """Return a digest of a stage's script and of the modules it imports; a change reruns the stage."""
    return code_digest(SCRIPTS / f"{stage}.py")


def code_of(stage, models_of):
    """The same for a stage that uses the code of families, by the names of its models; a first stage has none."""

    def digest(wildcards):
        settings, models = experiment_of(wildcards), models_of(wildcards)
        return [refusing(wildcards, digests.digest_of, SCRIPTS, settings, stage, model, family_digest) for model in models]

    return digest


def memory(limit):
    """MB of memory of a job that runs the model: less than the limit where its encoder is small."""
    return lambda wildcards: rates.memory_within(limit, experiment_of(wildcards)["models"])


def targets():
    """Return the targets of the command. A Snakemake that runs a job on a node of a cluster is told by the one that submits it."""
    if workflow.is_main_process:
        os.environ.update(EPIC_TARGETS="\n".join(workflow.dag_settings.targets or ["all"]))
    return os.environ.get("EPIC_TARGETS", "").splitlines() or ["nothing"]
