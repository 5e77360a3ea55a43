"""Whether config.json of a BERT and the weights beside it are one model's, asked before a body is made.

A body of whatever sizes a damaged file speaks of would fill the memory, and end in an error of torch. Nothing is computed here.
"""

import math
import re
from pathlib import Path

import torch

from epic.core.files import InputError
from epic.model.bert import Bert
from epic.model.shapes import Shapes, difference, shapes_of

CONFIG, WEIGHTS = "config.json", "model.safetensors"
SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
SHARES = ("hidden_dropout_prob", "attention_probs_dropout_prob")
FEWEST = {"max_position_embeddings": 3}  # [CLS], a word-piece and [SEP]; of all others one
MOST = 1 << 24  # of any size
TENSORS = {  # the sizes that the shapes of some weights are
    "embeddings.word_embeddings.weight": ("vocab_size", "hidden_size"),
    "embeddings.position_embeddings.weight": ("max_position_embeddings", "hidden_size"),
    "embeddings.token_type_embeddings.weight": ("type_vocab_size", "hidden_size"),
    "encoder.layer.0.intermediate.dense.weight": ("intermediate_size", "hidden_size"),
}
LAYER = re.compile(r"encoder\.layer\.([0-9]+)\.")


def refuse_unlike(config: dict, found: Shapes, folder) -> None:
    """Refuse a BERT's config.json, defaults included, that is damaged, or speaks of other weights than those in the folder.

    found: the shapes of the weights there, by their names within the body; there may be more.
    """
    refuse_odd(config, folder)
    for name, keys in TENSORS.items():
        if name in found and found[name] != (expected := tuple(config[key] for key in keys)):
            said = " and ".join(f"{key} {size}" for key, size in zip(keys, expected, strict=True))
            raise _unlike(folder, f"says {said}, but {name} in {WEIGHTS} has the shape {found[name]}")
    layers = {layer[1] for name in found if (layer := LAYER.match(name))}
    if len(layers) != config["num_hidden_layers"]:
        raise _unlike(folder, f"says num_hidden_layers {config['num_hidden_layers']}, but {WEIGHTS} has {len(layers)}")
    if odd := difference(described(config), found):
        raise InputError(f"{Path(folder) / WEIGHTS} {odd}")


def refuse_odd(config: dict, folder) -> None:
    """Refuse a BERT's config.json that lacks a number, or has one that cannot be."""
    for key in SIZES:
        if type(config.get(key)) is not int or not FEWEST.get(key, 1) <= config[key] <= MOST:
            raise _odd(folder, config, key, f"a whole number from {FEWEST.get(key, 1)} to {MOST}")
    own = ("classifier_dropout",) if config.get("classifier_dropout") is not None else ()
    for key in (*SHARES, *own):
        if not 0 <= _number(config[key]) <= 1:
            raise _odd(folder, config, key, "a number from 0 to 1")
    if not 0 <= _number(config["layer_norm_eps"]) < 1:
        raise _odd(folder, config, "layer_norm_eps", "a small number")
    if config["hidden_size"] % config["num_attention_heads"]:
        heads, size = config["num_attention_heads"], config["hidden_size"]
        raise _unlike(folder, f"says num_attention_heads {heads}, which does not divide hidden_size {size}")
    made = config.get("architectures") or []
    if not isinstance(made, list) or not all(isinstance(name, str) for name in made):
        raise _odd(folder, config, "architectures", "a list of names")


def _number(value) -> float:
    return value if type(value) in (int, float) else math.nan


def _odd(folder, config: dict, key: str, expected: str) -> InputError:
    said = f"{key} is {config[key]!r:.60}" if key in config else f"there is no {key}"
    return InputError(f"{Path(folder) / CONFIG}: {said}, expected {expected}; it was damaged: fetch or make it again")


def _unlike(folder, what: str) -> InputError:
    return InputError(f"{Path(folder) / CONFIG} {what}; the two are not one model's: fetch or make them again")


def described(config: dict) -> Shapes:
    """Return the shapes of all weights of the body that a config.json describes; nothing is allocated."""
    with torch.device("meta"):
        return shapes_of(Bert(config).state_dict())
