"""A sequence-to-sequence model that writes queries which a passage might answer: docTTTTTquery's, or any other of transformers'.

The input is the raw passage, and each token of a query is drawn from the k likeliest by their softmax: top-k sampling with the
temperature 1.

The draw is exact and has no state. Adding noise of Gumbel's distribution to logits and taking the largest sum draws from their
softmax, so sampling becomes greedy decoding of noisy logits; and the noise of a token is computed from the seed, the passage's
position in the collection, the number of the sample, the step and the token itself (epic.first_stage.noise). So a query is the
same whatever else is generated beside it, before it, or in another job, and the first 5 of 40 samples are the 5 of 5.

What remains is rounding: products of matrices with other numbers of rows may differ in their last bits, and a draw flips where
the two largest noisy logits, or the k-th and the next likeliest, are closer than that. Passages of one batch have equally many
tokens, so that nothing is padded; with one passage at a time nothing at all depends on the others.
"""

import re
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from epic.core.files import InputError
from epic.core.visible import one_line
from epic.first_stage.noise import gumbel
from epic.first_stage.positions import refuse_too_few
from epic.model.device import PRECISIONS, prepare
from epic.model.shapes import surplus_layer
from epic.model.tokens import tokenizer_of

NOT_OF_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # line ends, tabs and other control characters


class Drawing(NamedTuple):
    """How queries are drawn."""

    samples: int  # a passage
    seed: int
    top_k: int
    max_input: int  # tokens of a passage, its end included
    max_output: int  # tokens of a query, its end included


class Tokens(NamedTuple):
    """A passage as tokens, and its position in the collection."""

    position: int
    ids: list[int]


class Sampling:
    """Top-k sampling as a step of greedy decoding: of a row's logits only the token that was drawn is left.

    positions: of the passages; each has `samples` rows, one below the other.
    """

    def __init__(self, drawing: Drawing, positions: list[int], device: str):
        self.drawing = drawing
        passages = torch.tensor(positions, dtype=torch.int64, device=device)  # (b,)
        self.positions = passages.repeat_interleave(drawing.samples, output_size=len(positions) * drawing.samples)[
            :, None
        ]  # (n, 1)
        self.samples = torch.arange(drawing.samples, device=device).repeat(len(positions))[:, None]  # (n, 1)
        self.finite: list[Tensor] = []  # whether logits were numbers, by step; looked at in the end, as a look waits for the card

    def __call__(self, written: Tensor, logits: Tensor) -> Tensor:
        """Return logits (n, v) of the next token in which only the drawn one is finite; written: (n, 1 + step) tokens so far."""
        best, tokens = logits.float().topk(min(self.drawing.top_k, logits.shape[1]))  # (n, k) each
        noise = gumbel(self.drawing.seed, self.positions, self.samples, written.shape[1] - 1, tokens)  # (n, k)
        drawn = tokens.gather(1, (best.double() + noise).argmax(dim=1, keepdim=True))  # (n, 1)
        self.finite.append(best.isfinite().all())
        return torch.full_like(logits, -torch.inf).scatter(1, drawn, 0.0)  # (n, v)


class QueryGenerator:
    """A generator from its folder, on a device, with its way of drawing."""

    def __init__(self, folder, drawing: Drawing, device: str, threads: int, precision: str):
        from transformers import GenerationConfig

        self.drawing, self.name, self.precision = drawing, Path(folder).name, precision
        self.device = prepare(device, threads, precision)
        self.tokenizer = tokenizer_of(folder)
        self.tokenizer.enable_truncation(drawing.max_input)
        model = _loaded(folder, precision)
        refuse_too_few(model.config.to_dict(), drawing._asdict(), folder)
        said = model.generation_config
        names = ("decoder_start_token_id", "eos_token_id", "pad_token_id")
        if absent := [name for name in names if getattr(said, name) is None]:
            raise InputError(f"{folder}: its config.json has no {absent[0]}, so nobody knows how a query begins and ends")
        given = {name: getattr(said, name) for name in names}
        # in place of the model's own, which may ask for beams or forbid repeated words
        model.generation_config = GenerationConfig(**given, do_sample=False, num_beams=1, max_new_tokens=drawing.max_output)
        self.model, self.start = model.to(self.device).eval(), said.decoder_start_token_id
        self.ends = {said.eos_token_id} if isinstance(said.eos_token_id, int) else set(said.eos_token_id)

    def tokens(self, texts: list[str]) -> list[list[int]]:
        """Return the tokens of some passages, cut at the most that are read; none for a passage without any but its end."""
        found, rows = self.tokenizer.encode_batch(texts), self.model.get_input_embeddings().num_embeddings
        if unknown := [token for passage in found for token in passage.ids if token >= rows]:
            raise InputError(
                f"generator {self.name}: tokenizer.json has a token {unknown[0]}, the model only {rows}; are they one model's?"
            )
        return [passage.ids if sum(passage.special_tokens_mask) < len(passage.ids) else [] for passage in found]

    @torch.inference_mode()
    def queries(self, passages: list[Tokens]) -> list[list[str]]:
        """Return the queries of some passages that have equally many tokens, each passage's in the order of its samples."""
        from transformers.modeling_outputs import BaseModelOutput

        ids = torch.tensor([passage.ids for passage in passages], device=self.device)  # (b, l)
        hidden = self.model.get_encoder()(input_ids=ids).last_hidden_state  # (b, l, d)
        cache, rows = self._read_once(hidden), len(passages) * self.drawing.samples
        sampling = Sampling(self.drawing, [passage.position for passage in passages], self.device)
        found = self.model.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._of_samples(hidden)),
            past_key_values=cache,
            logits_processor=[sampling],
        )  # (b * samples, 1 + steps)
        if not torch.stack(sampling.finite).all():
            raise InputError(f"generator {self.name}: its logits are no numbers in {self.precision}; say precision: float32")
        texts = self.tokenizer.decode_batch([self._until_end(row[1:]) for row in found.tolist()])
        lines = [NOT_OF_A_LINE.sub(" ", text).strip() for text in texts]
        return [lines[first : first + self.drawing.samples] for first in range(0, rows, self.drawing.samples)]

    def _of_samples(self, hidden: Tensor) -> Tensor:
        """Repeat each passage's rows for its samples: (b, l, d) -> (b * samples, l, d)."""
        return hidden.repeat_interleave(self.drawing.samples, dim=0, output_size=len(hidden) * self.drawing.samples)

    def _read_once(self, hidden: Tensor):
        """Return what the decoder's layers read of the passages (keys and values), computed once for all samples of a passage.

        The decoder takes one step to write them down; that step's own words are forgotten.
        """
        from transformers.cache_utils import DynamicCache, EncoderDecoderCache
        from transformers.modeling_outputs import BaseModelOutput

        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        first = torch.full((len(hidden), 1), self.start, device=self.device)  # (b, 1)
        encoded = BaseModelOutput(last_hidden_state=hidden)
        self.model(encoder_outputs=encoded, decoder_input_ids=first, past_key_values=cache, use_cache=True)
        cache.cross_attention_cache.batch_repeat_interleave(self.drawing.samples)
        return EncoderDecoderCache(DynamicCache(), cache.cross_attention_cache)

    def _until_end(self, ids: list[int]) -> list[int]:
        """Cut a query at its end: shorter ones are filled up behind it."""
        return ids[: next((place for place, token in enumerate(ids) if token in self.ends), len(ids))]


def _loaded(folder, precision: str):
    """Load a model by transformers; refuse a file that lacks weights, since these would start at random."""
    from transformers import AutoModelForSeq2SeqLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    kind = {"dtype": PRECISIONS[precision], "use_safetensors": True, "local_files_only": True}
    try:
        model, found = AutoModelForSeq2SeqLM.from_pretrained(folder, **kind, output_loading_info=True)
    except Exception as error:  # of torch, of safetensors, and of transformers' checks of a config: they raise many kinds
        said = one_line(str(error)) or type(error).__name__
        raise InputError(
            f"{folder}: transformers cannot load it ({said:.200}); are config.json and weights one model's?"
        ) from error
    if absent := sorted(found["missing_keys"]):
        raise InputError(f"{folder}/model.safetensors has no {absent[0]} ({len(absent)} weights are missing)")
    if more := surplus_layer(sorted(found["unexpected_keys"]), model.state_dict()):
        raise InputError(f"{folder}/model.safetensors has {more}, of a layer that config.json does not know")
    return model
