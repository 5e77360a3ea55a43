"""The masked-language-model head that EPIC's expansion starts from."""

from typing import NamedTuple

import torch
from torch import Tensor

from epic.core.files import InputError
from epic.model.shapes import Shapes, difference, shapes_of

BIAS = -5.0  # if no head was learned; see head_of
SHIFT = 10.0  # GELU keeps values well above zero, and the LayerNorm after it removes the shift again
LM_HEAD = ("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder.weight", "lm_head.bias")
NAMES = {  # by the encoder's type: transform, its LayerNorm, vocabulary matrix, bias
    "bert": (
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.decoder.weight",
        "cls.predictions.bias",
    ),
    "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.weight", "vocab_projector.bias"),
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert", "mpnet"), LM_HEAD),
}


class Head(NamedTuple):
    """Weights of decoder(LayerNorm(GELU(dense f))) + bias, and whether they were learned or are the identity."""

    dense: Tensor  # (e, e)
    dense_bias: Tensor  # (e,)
    norm: Tensor  # (e,)
    norm_bias: Tensor  # (e,)
    decoder: Tensor  # (V, e)
    bias: Tensor  # (V,)
    eps: float
    learned: bool


def head_of(weights: dict[str, Tensor], config: dict, embeddings: Tensor) -> Head:
    """Return the head among an encoder's weights; without one, the word embeddings (V, e), behind a neutral transform.

    This transform changes only the scale: it ends in a LayerNorm, so each token vector leaves it centred and of unit
    variance. A learned head gives most of the vocabulary values far below zero; the bias replaces that, or every word
    would start out with a weight in every passage.
    """
    eps = config.get("layer_norm_eps", 1e-12)
    dense, norm, decoder, bias = NAMES.get(config["model_type"], NAMES["bert"])
    matrix = weights.get(decoder, embeddings)  # (V, e); tied encoders do not store it twice
    count, size = embeddings.shape
    if f"{dense}.weight" in weights:
        parts = [f"{name}.{kind}" for name in (dense, norm) for kind in ("weight", "bias")]
        shapes = dict(zip(parts, [(size, size), (size,), (size,), (size,)], strict=True)) | {bias: (count,)}
        _refuse_other(weights | {decoder: matrix}, shapes | {decoder: (count, size)})
        return Head(*(weights[name] for name in parts), matrix, weights[bias], eps, learned=True)
    _refuse_other({decoder: matrix}, {decoder: (count, size)})
    kind = embeddings.dtype
    identity = torch.eye(size, dtype=kind), torch.full((size,), SHIFT, dtype=kind)  # (e, e), (e,)
    norm, bias = (torch.ones(size, dtype=kind), torch.zeros(size, dtype=kind)), torch.full((len(matrix),), BIAS, dtype=kind)
    return Head(*identity, *norm, matrix, bias, eps, learned=False)


def _refuse_other(weights: dict[str, Tensor], expected: Shapes) -> None:
    """Refuse a head of which a part is missing, or that is of another encoder."""
    if odd := difference(expected, shapes_of(weights)):
        raise InputError(f"model.safetensors {odd}, in the masked-language-model head; fetch it anew, or name another encoder")
