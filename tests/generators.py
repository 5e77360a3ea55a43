"""A tiny T5 that generates queries, for tests: random weights, and a tokenizer of letters and a few words."""

import json

PIECES = [
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    *"abcdefghijklmnopqrstuvwxyz",
    "▁pool",
    "▁price",
    "▁of",
    "▁what",
    "▁is",
    "é",
    "two\nlines",
    "\ttab",
]
DRAWING = {"samples": 3, "seed": 7, "top_k": 10, "max_input": 12, "max_output": 6}


def tokenizer():
    """A tokenizer as T5 has one: a passage ends with </s>."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    made = Tokenizer(
        models.Unigram([(piece, 0.0 if place < 3 else -1.0 - 0.01 * place) for place, piece in enumerate(PIECES)], unk_id=2)
    )
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    made.add_special_tokens(["<pad>", "</s>", "<unk>"])
    return made


def write_generator(folder):
    """Write a generator's folder, as Hugging Face has them."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder.mkdir(parents=True, exist_ok=True)
    config = T5Config(
        vocab_size=len(PIECES) + 4,
        d_model=16,
        d_kv=4,
        d_ff=32,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        dropout_rate=0.1,
    )
    torch.manual_seed(5)
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.shared.weight.mul_(0.4)  # else one token is always by far the likeliest
        model.shared.weight[2] = -8.0  # and <unk> never is
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def as_published_before_2023(folder, out):
    """Write the same as pytorch_model.bin, with the ties that torch pickles; the tokenizer stays."""
    import torch
    from transformers import T5ForConditionalGeneration

    out.mkdir()
    model = T5ForConditionalGeneration.from_pretrained(folder)
    torch.save(model.state_dict(), out / "pytorch_model.bin")
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["T5WithLMHeadModel"]}
    (out / "config.json").write_text(json.dumps(config))
    (out / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    return out
