"""The authors' checkpoint at a small size: a state dict with their names."""

import torch

BODY, CLS = "encoder.bert.bert.", "encoder.bert.cls."


def their_state(model):
    """A state dict with exactly the keys of epic.p, for a small encoder, made of random numbers."""
    torch.manual_seed(11)
    words, size = model.body.words.weight.shape
    state = {"_nil": torch.zeros(1)}
    names = [
        "embeddings.word_embeddings.weight",
        "embeddings.position_embeddings.weight",
        "embeddings.token_type_embeddings.weight",
    ]
    names += ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    for layer in range(len(model.body.encoder.layer)):
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            names += [f"encoder.layer.{layer}.{part}.{kind}" for kind in ("weight", "bias")]
        for part in ("attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"):
            names += [f"encoder.layer.{layer}.{part}.{kind}" for kind in ("weight", "bias")]
    shapes = {name: tensor.shape for name, tensor in model.body.state_dict().items()}
    assert sorted(names) == sorted(shapes)
    state |= {f"{BODY}{name}": torch.randn(shapes[name]) for name in names}
    head = {"bias": (words,), "transform.dense.weight": (size, size), "transform.dense.bias": (size,)}
    head |= {"transform.LayerNorm.weight": (size,), "transform.LayerNorm.bias": (size,)}
    for prefix in (CLS, f"{BODY}cls."):  # the second is a duplicate that their code never reads
        state |= {f"{prefix}predictions.{name}": torch.randn(shape) for name, shape in head.items()}
        state |= {f"{prefix}seq_relationship.weight": torch.randn(2, size), f"{prefix}seq_relationship.bias": torch.randn(2)}
    state[f"{CLS}predictions.decoder.weight"] = state[f"{BODY}embeddings.word_embeddings.weight"]
    state[f"{BODY}cls.predictions.decoder.weight"] = torch.randn(words, size)
    for name in ("query_salience", "doc_salience", "doc_quality"):
        state |= {f"{name}.weight": torch.randn(1, size), f"{name}.bias": torch.randn(1)}
    return state
