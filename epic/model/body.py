"""The encoder's body: our own packed BERT, or transformers' body of any other masked language model."""

import logging
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from epic.core.files import InputError, read_json
from epic.model.bert import Bert, Packed
from epic.model.mlm_head import Head, head_of

log = logging.getLogger(__name__)
DEFAULTS = {  # of BERT, for keys that a config.json omits
    "layer_norm_eps": 1e-12,
    "type_vocab_size": 2,
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
}
AFTER_PADDING = {"roberta", "xlm-roberta", "camembert", "mpnet"}  # they count positions from the padding id on


class Other(nn.Module):
    """A body of transformers behind the same interface; rows are padded on the way in and packed on the way out."""

    def __init__(self, config: dict, folder=None):
        """Build an untrained body, or load the body of a folder in Hugging Face's layout."""
        super().__init__()
        from transformers import AutoConfig, AutoModel

        kept = {key: value for key, value in config.items() if key != "model_type"}
        try:
            kind = AutoConfig.for_model(config["model_type"], **kept)
            self.model = _loaded(folder, kind) if folder else AutoModel.from_config(kind, dtype=torch.float32)
        except (KeyError, ValueError) as error:
            raise InputError(f"transformers knows no encoder of the type {config['model_type']}: {error}") from error
        self.config = config
        if getattr(self.model, "pooler", None) is not None:
            self.model.pooler = None  # not used, and untrained if the encoder is a masked language model
        if self.words.embedding_dim != config.get("hidden_size", config.get("dim")):
            raise InputError(f"the {config['model_type']}'s word embeddings are narrower than its layers; they cannot be Theta2")

    @property
    def words(self) -> nn.Embedding:
        return self.model.get_input_embeddings()

    @property
    def window(self) -> int:
        """The number of word-pieces that fit between the two special tokens."""
        unused = self.config["pad_token_id"] + 1 if self.config["model_type"] in AFTER_PADDING else 0
        return self.config["max_position_embeddings"] - unused - 2

    def forward(self, packed: Packed, segment: int) -> Tensor:
        padding, mask = packed.padding, packed.padding.mask(packed.ids)  # (W, T)
        ids = padding.pad(packed.ids).masked_fill(~mask, self.config.get("pad_token_id") or 0)  # (W, T)
        segments = {"token_type_ids": ids.new_full(ids.shape, segment)} if self.config.get("type_vocab_size", 0) > 1 else {}
        states = self.model(input_ids=ids, attention_mask=mask.long(), **segments).last_hidden_state  # (W, T, e)
        return padding.unpad(states)  # (N, e)


def _loaded(folder, kind):
    """Load the body of an encoder by transformers; refuse a file that lacks weights, since these would start at random."""
    from transformers import AutoModel

    model, found = AutoModel.from_pretrained(
        folder, config=kind, dtype=torch.float32, use_safetensors=True, local_files_only=True, output_loading_info=True
    )
    if absent := sorted(name for name in found["missing_keys"] if "pooler" not in name):
        raise InputError(f"{folder}: model.safetensors has no {absent[0]} ({len(absent)} weights are missing)")
    return model


def body_of(config: dict, folder=None) -> Bert | Other:
    """Make the body for a config.json: untrained, or, if it is not BERT, with the weights of a folder."""
    if "model_type" not in config:
        raise InputError("config.json names no model_type; is it a Hugging Face encoder?")
    return Bert(DEFAULTS | config) if is_plain_bert(config) else Other(config, folder)


def is_plain_bert(config: dict) -> bool:
    """Tell whether our own body computes what a config.json describes."""
    absolute = config.get("position_embedding_type", "absolute") == "absolute"
    return config.get("model_type") == "bert" and config.get("hidden_act", "gelu") == "gelu" and absolute


def load_pretrained(folder) -> tuple[Bert | Other, Head]:
    """Load the body of a Hugging Face encoder, and its masked-language-model head or a substitute."""
    config = read_json(Path(folder) / "config.json")
    body = body_of(config, folder)
    named = named_weights(folder, body.model.base_model_prefix if isinstance(body, Other) else "bert")
    if isinstance(body, Bert):
        fill(body, named, folder)
    head = head_of(named, config, body.words.weight)
    found = "its masked-language-model head" if head.learned else "its word embeddings: no head was found"
    log.info("%s: the expansion starts from %s", folder, found)
    return body, head


def named_weights(folder, prefix: str = "bert") -> dict[str, Tensor]:
    """Read the weights of an encoder in float32, by their names within the body."""
    weights = load_file(Path(folder) / "model.safetensors")
    return {_current(name.removeprefix(f"{prefix}.")): tensor.float() for name, tensor in weights.items()}


def fill(body: Bert, named: dict[str, Tensor], folder) -> None:
    """Put weights into a body of our own; refuse a file that lacks some."""
    if absent := [name for name in body.state_dict() if name not in named]:
        raise InputError(f"{folder}: model.safetensors has no {absent[0]} ({len(absent)} weights are missing)")
    body.load_state_dict({name: named[name] for name in body.state_dict()})


def _current(name: str) -> str:
    """Return a weight's name with LayerNorm's names as they are since BERT's first release."""
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
