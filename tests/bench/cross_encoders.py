"""Re-ranking by a cross-encoder: our packed batches of many queries against the padded loop over transformers' model."""

from pathlib import Path

import numpy as np
import torch

from epic.corpus.runs import ScoredDoc
from epic.rankers import cross_encoder as family
from epic.rankers.pairs import scores_of_texts
from tests.bench import inputs
from tests.bench.measure import Way, arithmetic, versus

BATCH = 32  # pairs of a padded batch
BUDGET = 4096  # word-pieces of one of ours, as in the experiments for a CPU
ENTRY = {
    "id": "bench", "family": "cross_encoder", "settings": {"query_pieces": 62, "total_pieces": 511}, "seed": 1, "loss": "none",
}  # fmt: skip
CLOSE = 1e-5  # of scores, which are log-probabilities


class Texts:
    """Passages in memory."""

    def __init__(self, texts: dict[str, str]):
        self._texts = texts

    def texts(self, doc_ids):
        return [self._texts[doc_id] for doc_id in doc_ids]


def new_ranker(encoder) -> family.Ranker:
    """A cross-encoder on an encoder, with a classifier that tells pairs apart."""
    ranker = family.create(encoder, ENTRY, None, "cpu")
    with torch.no_grad():
        ranker.classifier.weight.normal_(std=0.1)
    return ranker


class Plain:
    """The same weights in transformers, with the same tokenizer: pairs in the order of the run, padded to the longest of a batch."""

    def __init__(self, checkpoint: Path):
        from transformers import BertForSequenceClassification, BertTokenizerFast

        self.model = BertForSequenceClassification.from_pretrained(checkpoint).eval()
        self.tokenizer = BertTokenizerFast(tokenizer_file=str(checkpoint / "tokenizer.json"))

    @torch.inference_mode()
    def scores(self, queries: list[str], passages: list[str]) -> np.ndarray:
        """Log-probabilities (n,) of the second class."""
        found = []
        for start in range(0, len(queries), BATCH):
            some = slice(start, start + BATCH)
            encoded = self.tokenizer(
                queries[some], passages[some], padding="longest", truncation="only_second", max_length=511, return_tensors="pt"
            )
            found.append(torch.log_softmax(self.model(**encoded).logits, dim=1)[:, 1])  # (B,)
        return torch.cat(found).numpy()


def cross_encoder(name: str, encoder, folder: Path, candidates: int, rounds: int):
    """Candidates of four queries, a quarter of them in common, and those of one query alone; texts to scores in both ways."""
    ranker = new_ranker(encoder)
    family.save(ranker, folder / f"cross-encoder-{name}", str)
    theirs, shared = Plain(folder / f"cross-encoder-{name}"), candidates // 4
    count = 4 * candidates
    texts = inputs.texts(count, inputs.typical_seed(count, BATCH) if count % BATCH == 0 else 1)
    asked = dict(zip("abcd", inputs.QUERIES, strict=True))
    own = list(texts)[shared:]
    run = {
        query_id: [ScoredDoc(doc_id, 0.0) for doc_id in [*list(texts)[:shared], *own[place::4][: candidates - shared]]]
        for place, query_id in enumerate(asked)
    }
    pairs = [(asked[query_id], texts[hit.doc_id]) for query_id, hits in run.items() for hit in hits]
    lengths = [len(ranker.query(query)) + len(ranker.passage(text)) + 3 for query, text in pairs]

    def ours_of(some):
        found = family.score(ranker, some, asked, Texts(texts), BUDGET)
        return np.array([hit.score for hits in found.values() for hit in hits])  # (n,)

    def theirs_of(count):
        return theirs.scores([query for query, _ in pairs[:count]], [text for _, text in pairs[:count]])  # (n,)

    theirs_of(1), ours_of({"a": run["a"][:1]})  # what is made once
    passages = [texts[hit.doc_id] for hit in run["a"]]
    works = {
        "cross-encoder": (lambda: theirs_of(len(pairs)), lambda: ours_of(run), lengths),
        "cross-encoder-query": (
            lambda: theirs_of(candidates), lambda: scores_of_texts(ranker, asked["a"], passages, BUDGET), lengths[:candidates],
        ),
    }  # fmt: skip
    for work, (plain, ours, some) in works.items():
        yield versus(
            Way(plain, len(some)),
            Way(ours, len(some)),
            rounds,
            equal=lambda left, right: (
                left.shape == right.shape and bool(np.abs(left - right).max() < CLOSE) and left.std() > CLOSE
            ),
            ceiling=arithmetic(flops(ranker.bert.config, some) / len(some)),
            work=work,
            model=name,
            batch=BATCH,
            k=candidates,
        )


def flops(config: dict, lengths: list[int]) -> float:
    """Floating point operations of pairs without padding, the last layer's only where [CLS] needs them."""
    e, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    whole = sum((8 * e * e + 4 * e * inner) * n + 4 * e * n**2 for n in lengths)
    last = sum(4 * e * e * n + 4 * e * n + 4 * e * e + 4 * e * inner for n in lengths)
    return (layers - 1) * whole + last
