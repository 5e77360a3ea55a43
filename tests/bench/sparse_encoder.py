"""Encoding against what one would install today: SparseEncoder of sentence-transformers, with SPLADE's head of the same size.

SPLADE's weight of a term is the maximum, over all tokens, [CLS] and [SEP] too, of ln(1 + relu(logit)). The logarithm grows with the
logit, so the terms with the highest logits are those with the highest weights: our encoding finds the terms and their logits, with
every importance and quality one, and only what is kept goes through the logarithm. The mathematics is then the same.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epic.core.files import read_json
from epic.core.log import progress
from epic.model.bert import Packed
from epic.model.body import load_pretrained
from epic.model.epic import EpicModel, Tokens
from epic.model.equations import Released
from epic.model.tokens import tokenizer_of
from epic.vectors.batches import Budget
from epic.vectors.encode import pruned_vectors
from epic.vectors.tokenise import Passages
from epic.vectors.topk import take, top_terms
from epic.vectors.value_counts import Counter
from tests.bench import inputs
from tests.bench.equality import same_vectors
from tests.bench.measure import Way, arithmetic, versus
from tests.bench.works import BLOCK, KEEP, PIECES, forward_flops

BATCH = 32  # SparseEncoder's own
MISSING = "sparse-encoder: left out, since sentence-transformers is not installed; `make setup` installs it"


class Equations(Released):
    """SPLADE's head: all importances and qualities are one, and a maximum of logits."""

    segment = 0

    def w_d(self, f: Tensor) -> Tensor:
        return f.new_ones(len(f))  # (N,)

    def c(self, cls: Tensor) -> Tensor:
        return cls.new_ones(len(cls))  # (B,)

    def head(self, terms) -> tuple[Tensor, None]:
        return self.tied[0].weight[terms], None  # (Q, e); the bias of a head that was never trained is zero


class Splade(EpicModel):
    """Our way of encoding with that head; [CLS] and [SEP] take part in the maximum."""

    def __init__(self, folder: Path):
        body, head = load_pretrained(folder)
        super().__init__("released", body, head, tokenizer_of(folder))
        if head.bias.any():
            raise ValueError(f"{folder}: the head has a bias")
        self.equations = Equations(body.words, head)
        self.eval()

    def passage_tokens(self, pieces: list[list[int]], longest: list[int] | None = None) -> Tokens:
        framed = [[self.start, *ids, self.end] for ids in pieces]
        packed = Packed.of(framed, "cpu")
        states = self.body(packed, self.equations.segment)  # (N, e)
        return Tokens(states, packed.ids, [len(ids) for ids in framed], states[: len(framed)])  # c does not look at [CLS]

    def vectors(self, texts: list[str], keep: int) -> tuple[np.ndarray, np.ndarray]:
        """Terms and weights (n, keep) of passages, by the code that encodes shards."""
        some = Passages(list(map(str, range(len(texts)))), self.pieces(texts), None)
        terms, logits = pruned_vectors(self, some, keep, Budget(PIECES * BATCH), BLOCK, Counter(), progress(disable=True))
        return terms, np.log1p(np.maximum(logits, 0, dtype=np.float32)).astype(np.float16)


def masked_language_model(folder: Path, like: Path) -> Path:
    """Write a folder with the encoder `like` and a head with random weights, as transformers saves it, and return it."""
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    torch.manual_seed(1)
    model = BertForMaskedLM(BertConfig(**read_json(like / "config.json")))
    weights = {name.removeprefix("bert."): value for name, value in load_file(like / "model.safetensors").items()}
    lacking = model.bert.load_state_dict(weights, strict=False).missing_keys
    if lacking:
        raise ValueError(f"{like} has no {lacking[0]}")
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(like).save_pretrained(folder)
    return folder


def sparse_encoder(name: str, like: Path, scratch: Path, count: int, rounds: int, keep: int = KEEP):
    """Passages to their strongest terms, from text on; SparseEncoder sorts them by length and pads, as it always does."""
    if find_spec("sentence_transformers") is None:
        print(MISSING, flush=True)
        return
    from sentence_transformers import SparseEncoder

    folder = masked_language_model(scratch / f"splade-{name}", like)
    theirs, ours = SparseEncoder(str(folder), device="cpu", local_files_only=True), Splade(folder)
    texts = list(inputs.texts(count, inputs.typical_seed(BATCH * (count // BATCH) or BATCH, BATCH)).values())
    lengths = [len(ids) for ids in ours.pieces(texts)]

    def their_way(texts=texts):
        return theirs.encode(texts, batch_size=BATCH, max_active_dims=keep, show_progress_bar=False)  # (n, V), sparse

    def our_way(texts=texts):
        return ours.vectors(texts, keep)

    their_way(texts[:2]), our_way(texts[:2])  # whatever is compiled or allocated once
    yield versus(
        Way(their_way, count),
        Way(our_way, count),
        rounds,
        equal=lambda left, right: same_vectors(as_file(left, keep), *right),
        ceiling=arithmetic(forward_flops(ours, lengths, ours.vocabulary) / count),
        work="sparse-encoder",
        model=name,
        batch=BATCH,
        r=keep,
    )


def as_file(found: Tensor, keep: int) -> bytes:
    """Sparse vectors (n, V) in the authors' file format, as `same_vectors` compares them."""
    values = found.to_dense().half().numpy()  # (n, V)
    terms = top_terms(values, keep)  # (n, keep)
    return np.concatenate([terms, take(values, terms).view(np.uint16)], axis=1).tobytes()
