"""Whether a generator has a position for every token that it is to read and to write. No result depends on this."""

from collections.abc import Iterator, Mapping

from epic.core.files import InputError

BOTH = "max_position_embeddings"  # of a model whose encoder and decoder have equally many; one with relative positions has no end
SIDES = {"max_input": ("reads", "max_encoder_position_embeddings"), "max_output": ("writes", "max_decoder_position_embeddings")}


def too_few(config: Mapping, lengths: Mapping) -> Iterator[str]:
    """Yield what is wrong with the lengths `max_input` and `max_output` for a model's config.json, and the remedy."""
    for key, (does, own) in SIDES.items():
        most = config.get(own, config.get(BOTH))
        if type(most) is int and lengths[key] > most:
            yield f"it {does} at most {most} tokens, the generator's {key} is {lengths[key]}; lower it"


def refuse_too_few(config: Mapping, lengths: Mapping, where) -> None:
    """Refuse lengths for which a model lacks positions."""
    for said in too_few(config, lengths):
        raise InputError(f"{where}: {said}")
