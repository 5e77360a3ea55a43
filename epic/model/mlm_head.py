"""The masked-language-model head that EPIC's expansion starts from."""

from typing import NamedTuple

import torch
from torch import Tensor

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
    if f"{dense}.weight" in weights:
        parts = [weights[f"{name}.{kind}"] for name in (dense, norm) for kind in ("weight", "bias")]
        return Head(*parts, matrix, weights[bias], eps, learned=True)
    size, kind = embeddings.shape[1], embeddings.dtype
    identity = torch.eye(size, dtype=kind), torch.full((size,), SHIFT, dtype=kind)  # (e, e), (e,)
    norm, bias = (torch.ones(size, dtype=kind), torch.zeros(size, dtype=kind)), torch.full((len(matrix),), BIAS, dtype=kind)
    return Head(*identity, *norm, matrix, bias, eps, learned=False)
