"""The encoder's body: our own packed BERT, or transformers' body of any other masked language model."""

import logging
from pathlib import Path

import torch
from torch import Tensor, nn

from epic.core.files import InputError
from epic.core.visible import one_line
from epic.model.bert import Bert, Packed
from epic.model.checkpoint import WEIGHTS, read_weights
from epic.model.config_check import refuse_unlike
from epic.model.facts import naming, read_facts
from epic.model.mlm_head import Head, head_of
from epic.model.shapes import shapes_in, surplus_layer

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
        self.model, self.config = _by_transformers(config, folder), config
        if getattr(self.model, "pooler", None) is not None:
            self.model.pooler = None  # not used, and untrained if the encoder is a masked language model
        if self.words.embedding_dim != config.get("hidden_size", config.get("dim")):
            raise InputError(f"the {config['model_type']}'s word embeddings are narrower than its layers; they cannot be Theta2")
        needed = ("max_position_embeddings", *(("pad_token_id",) if config["model_type"] in AFTER_PADDING else ()))
        if absent := [key for key in needed if type(config.get(key)) is not int]:
            raise InputError(f"it has no {absent[0]}, a whole number; fetch it anew")
        if self.window < 1:
            raise InputError(f"max_position_embeddings {config['max_position_embeddings']} leave no place for a word-piece")

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


def _by_transformers(config: dict, folder):
    """Make a masked language model's body by transformers: untrained, or with the weights of a folder."""
    from transformers import AutoConfig, AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES as MASKED

    kind, kept = config["model_type"], {key: value for key, value in config.items() if key != "model_type"}
    if kind not in CONFIG_MAPPING:
        raise InputError(f"transformers knows no encoder of the type {kind}")
    try:
        described = AutoConfig.for_model(kind, **kept) if kind in MASKED else None
        if described is None or described.is_encoder_decoder:
            raise InputError(
                f"its model_type is {kind}, which is no masked language model; EPIC starts from an encoder such as BERT"
            )
        return _loaded(folder, described) if folder else AutoModel.from_config(described, dtype=torch.float32)
    except InputError:
        raise
    except Exception as error:  # of torch, and of transformers' checks of a config: they raise many kinds
        said = one_line(str(error))[:200]
        raise InputError(f"transformers cannot make its {kind} ({said}); are config.json and weights one model's?") from error


def _loaded(folder, kind):
    """Load the body of an encoder by transformers; refuse a file that lacks weights, since these would start at random."""
    from transformers import AutoModel

    model, found = AutoModel.from_pretrained(
        folder, config=kind, dtype=torch.float32, use_safetensors=True, local_files_only=True, output_loading_info=True
    )
    if absent := sorted(name for name in found["missing_keys"] if "pooler" not in name):
        raise InputError(f"{folder}/model.safetensors has no {absent[0]} ({len(absent)} weights are missing)")
    if more := surplus_layer(sorted(found["unexpected_keys"]), model.state_dict()):
        raise InputError(f"{folder}/model.safetensors has {more}, of a layer that config.json does not know")
    return model


def body_of(config: dict, folder=None, is_checkpoint: bool = False) -> Bert | Other:
    """Make the body for the config.json of a folder: untrained, or, if it is an encoder and not BERT, with its weights.

    is_checkpoint: the folder is no encoder, but a model that was saved here.
    """
    if not isinstance(config.get("model_type"), str):
        raise InputError("it names no model_type; is it the config.json of a Hugging Face encoder?")
    if is_plain_bert(config):
        return bert_of(config, folder, "body." if is_checkpoint else "bert.")
    return Other(config, None if is_checkpoint else folder)


def bert_of(config: dict, folder, prefix: str = "bert.") -> Bert:
    """Make our own body, untrained; prefix: see `checked`. Without a folder the config.json is taken as it is."""
    return Bert(checked(config, Path(folder) / WEIGHTS, folder, prefix) if folder else DEFAULTS | config)


def checked(config: dict, weights, where, prefix: str = "bert.") -> dict:
    """Return a BERT's config.json with its defaults; refuse one that speaks of other weights than there are in a file.

    prefix: how the names of the body's weights begin there; they may also do without.
    """
    config = DEFAULTS | config
    shapes = shapes_in(weights)
    refuse_unlike(config, {current_name(name.removeprefix(prefix)): shape for name, shape in shapes.items()}, where)
    return config


def is_plain_bert(config: dict) -> bool:
    """Tell whether our own body computes what a config.json describes."""
    absolute = config.get("position_embedding_type", "absolute") == "absolute"
    return config.get("model_type") == "bert" and config.get("hidden_act", "gelu") == "gelu" and absolute


def kind_of(config: dict) -> str:
    """Describe what a config.json says of the encoder's kind, for people."""
    told = [f"{key} {config[key]}" for key in ("model_type", "hidden_act", "position_embedding_type") if key in config]
    return ", ".join(told)[:200] or "of no known type"


def load_pretrained(folder) -> tuple[Bert | Other, Head]:
    """Load the body of a Hugging Face encoder, and its masked-language-model head or a substitute."""
    config = read_facts(Path(folder) / "config.json")
    with naming(folder, "config.json"):
        body = body_of(config, folder)
    named = named_weights(folder, body.model.base_model_prefix if isinstance(body, Other) else "bert")
    if isinstance(body, Bert):
        fill(body, named)
    with naming(folder):
        head = head_of(named, config, body.words.weight)
    found = "its masked-language-model head" if head.learned else "its word embeddings: no head was found"
    log.info("%s: the expansion starts from %s", folder, found)
    return body, head


def named_weights(folder, prefix: str = "bert") -> dict[str, Tensor]:
    """Read the weights of an encoder in float32, by their names within the body."""
    weights = read_weights(Path(folder) / WEIGHTS)
    return {current_name(name.removeprefix(f"{prefix}.")): tensor.float() for name, tensor in weights.items()}


def fill(body: Bert, named: dict[str, Tensor]) -> None:
    """Put weights into a body of our own, which was made for them; there may be more."""
    body.load_state_dict({name: named[name] for name in body.state_dict()})


def current_name(name: str) -> str:
    """Return a weight's name with LayerNorm's names as they are since BERT's first release."""
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
