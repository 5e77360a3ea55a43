"""The cross-encoder against transformers' BertForSequenceClassification, and against plain loops over words and heads."""

import math

import numpy as np
import pytest
import torch

from epic.rankers import cross_encoder as family
from tests.cross_encoders import ENTRY, write_classifier

pytestmark = pytest.mark.parity
QUERIES = ["what does a pool cost", "", "café naïve Zürich 東京 tower", "x", " ".join(["query"] * 100)]
PASSAGES = [
    "The price of a pool depends on its size; expect 20,000 to 60,000.",
    "",
    "Über café.",
    "word " * 700,
    "z [SEP] y \x00 😀",
]
PAIRS = [(query, passage) for query in QUERIES for passage in PASSAGES]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A cross-encoder and transformers' model with the same random weights."""
    folder = tmp_path_factory.mktemp("classifier")
    theirs = write_classifier(folder)
    return family.create(folder, ENTRY | {"loss": None}, None, "cpu"), theirs


def their_logits(ranker, theirs, query, passage):
    """Logits (2,) of one pair by transformers; the ids are cut by hand, as dl4marco-bert's code cuts them."""
    ids = [ranker.tokenizer.encode(text, add_special_tokens=False).ids for text in (query, passage)]
    cls, sep = (ranker.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    first = [cls, *ids[0][:62], sep]
    second = [*ids[1][: 512 - len(first) - 2], sep]
    segments = torch.tensor([[0] * len(first) + [1] * len(second)])
    assert segments.shape[1] <= 511
    return theirs(input_ids=torch.tensor([first + second]), token_type_ids=segments).logits[0]  # (2,)


@torch.inference_mode()
@pytest.mark.parametrize(("kind", "close"), [(torch.float64, 1e-10), (torch.float32, 1e-6)])
def test_the_logits_are_those_of_transformers_pair_by_pair(both, kind, close):
    ranker, theirs = both
    found = ranker.to(kind).logits(*map(list, zip(*((ranker.query(q), ranker.passage(p)) for q, p in PAIRS), strict=True)))
    expected = torch.stack([their_logits(ranker, theirs.to(kind), *pair) for pair in PAIRS])  # (n, 2)
    worst = ((found - expected).abs() / expected.abs().clamp(min=1)).max().item()
    assert worst < close, worst
    score = torch.log_softmax(expected, dim=1)[:, 1]  # (n,)
    assert torch.allclose(ranker.pairs(*map(list, zip(*PAIRS, strict=True))), score, rtol=10 * close, atol=10 * close)
    assert score.std() > 0.05  # the pairs differ


def plain_norm(x, weight, bias):
    centred = x - x.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-12) * weight + bias


def plain_score(weights, ids, segments, heads, layers):
    """The score of one pair: one word-piece, one head, one product at a time."""

    def linear(name, x):
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def norm(name, x):
        return plain_norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    embeddings = [weights[f"bert.embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")]
    rows = [
        norm("bert.embeddings.LayerNorm", sum(table[number] for table, number in zip(embeddings, numbers, strict=True)))
        for numbers in zip(ids, range(len(ids)), segments, strict=True)
    ]
    size = len(rows[0]) // heads
    for layer in range(layers):
        at, after = f"bert.encoder.layer.{layer}", []
        keys, values = ([linear(f"{at}.attention.self.{part}", row) for row in rows] for part in ("key", "value"))
        for row in rows:
            query, context = linear(f"{at}.attention.self.query", row), np.empty_like(row)
            for head in range(heads):
                part = slice(head * size, (head + 1) * size)
                attention = np.array([query[part] @ key[part] / math.sqrt(size) for key in keys])
                attention = np.exp(attention - attention.max()) / np.exp(attention - attention.max()).sum()
                context[part] = sum(share * value[part] for share, value in zip(attention, values, strict=True))
            x = norm(f"{at}.attention.output.LayerNorm", linear(f"{at}.attention.output.dense", context) + row)
            inner = np.array([v / 2 * (1 + math.erf(v / math.sqrt(2))) for v in linear(f"{at}.intermediate.dense", x)])
            after.append(norm(f"{at}.output.LayerNorm", linear(f"{at}.output.dense", inner) + x))
        rows = after
    no, yes = linear("classifier", np.tanh(linear("bert.pooler.dense", rows[0])))
    return float(yes - np.logaddexp(no, yes))


@torch.inference_mode()
def test_plain_loops_give_the_same_score(both):
    ranker = both[0].double()
    weights = {name: value.numpy() for name, value in ranker.state_dict().items()}
    query, passage = "price of pools", "A pool costs more than a pond."
    ids = [ranker.tokenizer.encode(text, add_special_tokens=False).ids for text in (query, passage)]
    pair = [101, *ids[0], 102, *ids[1], 102]
    segments = [0] * (len(ids[0]) + 2) + [1] * (len(ids[1]) + 1)
    expected = plain_score(weights, pair, segments, heads=4, layers=3)
    assert ranker.pairs([query, "x"], [passage, ""])[0].item() == pytest.approx(expected, rel=1e-10)
    swapped = plain_score(weights, pair, [0] * len(pair), heads=4, layers=3)
    assert abs(swapped - expected) > 1e-3  # segments matter


def test_what_is_saved_here_is_a_model_of_transformers(both, tmp_path):
    from transformers import BertForSequenceClassification

    ranker, theirs = both[0].float(), both[1]
    family.save(ranker, tmp_path / "checkpoint", str)
    again = BertForSequenceClassification.from_pretrained(tmp_path / "checkpoint").state_dict()
    assert all(torch.equal(value.float(), again[name]) for name, value in theirs.state_dict().items())
