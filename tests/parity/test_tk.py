"""TK's whole forward pass against plain loops over numbers, written from the description of the model alone."""

import math

import numpy as np
import pytest
import torch

from epic.rankers import tk
from tests.tk import SETTINGS, WORDS, entry, write_vocabulary

QUERIES = ["price of a pool", "pool", "nothing known", "", "a b c x y z"]  # the last is cut after 4 words
PASSAGES = ["a pool of a price", "", "x", "Unknown words only here", "café , cost of a b c x y z pool pool", "a a a a"]


@pytest.fixture
def doubles():
    """Double precision from the first number on."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=[1, 3])
def ranker(doubles, tmp_path, request):
    """A TK whose every weight is random: none is 0 or 1, where a mistake could hide."""
    made = tk.create(write_vocabulary(tmp_path / "v"), entry(layers=request.param), None, "cpu")
    with torch.no_grad():
        for name, weight in made.named_parameters():
            weight.copy_(torch.randn_like(weight) * (0.5 if weight.ndim > 1 else 0.8))
            if name.endswith("scale"):
                weight.fill_(0.3)
    return made


def by_hand(ranker, query, passage):
    """The score of a pair of lists of word numbers."""
    weights = {name: value.detach().numpy() for name, value in ranker.tk.state_dict().items()}
    q, d = (mixed(weights, words) for words in (query, passage))
    mus = [1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9]
    s, logs, means = float(weights["kernels.scale"]), [0.0] * 11, [0.0] * 11
    for k, mu in enumerate(mus):
        for left in q:
            total = sum(math.exp(-((cosine(left, right) - mu) ** 2) / (2 * 0.1**2)) for right in d)
            logs[k] += s * math.log2(max(total, 1e-10))
            means[k] += s * total / (len(d) + 1)
    one = sum(w * x for w, x in zip(weights["kernels.log_sums.weight"][0], logs, strict=True))
    two = sum(w * x for w, x in zip(weights["kernels.mean_sums.weight"][0], means, strict=True))
    last = weights["kernels.both.weight"][0]
    return last[0] * one + last[1] * two


def mixed(weights, words):
    """a * word + (1 - a) * its context."""
    vectors = [weights["words.weight"][word] for word in words]
    a = float(weights["mixture"])
    return [
        [a * x + (1 - a) * y for x, y in zip(*pair, strict=True)]
        for pair in zip(vectors, contexts(weights, vectors), strict=True)
    ]


def contexts(weights, vectors):
    """All layers: feed-forward with residual and norm, then attention with residual and norm."""
    x = [[value + wave(place, i, len(vector)) for i, value in enumerate(vector)] for place, vector in enumerate(vectors)]
    for layer in range(sum(name.endswith("qkv.weight") for name in weights)):
        part = {
            name.split(".", 3)[3]: value for name, value in weights.items() if name.startswith(f"contextualiser.layers.{layer}.")
        }
        inner = [[max(0.0, value) for value in linear(part, "inner", row)] for row in x]
        x = [norm(part, "fed", plus(linear(part, "outer", row), before)) for row, before in zip(inner, x, strict=True)]
        y = attention(part, x, heads=SETTINGS["heads"])
        x = [norm(part, "attended", plus(row, before)) for row, before in zip(y, x, strict=True)]
    return x


def wave(place, dimension, e):
    """Sines in the first half of the dimensions, cosines in the second; time scales from 1 to 10,000, in even ratios."""
    half = e // 2
    scale = 10_000 ** ((dimension % half) / (half - 1))
    return (math.sin if dimension < half else math.cos)(place / scale)


def attention(part, x, heads):
    """Each word looks at every word of its text."""
    e, projected = len(part["output.weight"]), [linear(part, "qkv", row) for row in x]
    p = len(part["output.weight"][0])
    size, out = p // heads, []
    for mine in projected:
        context = []
        for head in range(heads):
            at = range(head * size, (head + 1) * size)
            products = [sum(mine[i] * other[p + i] for i in at) / math.sqrt(e // heads) for other in projected]
            total = sum(math.exp(product) for product in products)
            for i in at:
                context.append(
                    sum(math.exp(product) / total * other[2 * p + i] for product, other in zip(products, projected, strict=True))
                )
        out.append(linear(part, "output", context))
    return out


def linear(part, name, row):
    return [
        sum(w * x for w, x in zip(weights, row, strict=True)) + b
        for weights, b in zip(part[f"{name}.weight"], part[f"{name}.bias"], strict=True)
    ]


def plus(left, right):
    return [x + y for x, y in zip(left, right, strict=True)]


def norm(part, name, row):
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    gain, shift = part[f"{name}.weight"], part[f"{name}.bias"]
    return [(x - mean) / math.sqrt(variance + 1e-6) * g + b for x, g, b in zip(row, gain, shift, strict=True)]


def cosine(left, right):
    length = math.sqrt(sum(x * x for x in left)) * math.sqrt(sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / length


def test_every_score_is_the_one_that_plain_loops_give(ranker):
    pairs = [(query, passage) for query in QUERIES for passage in PASSAGES]
    found = ranker.pairs(*zip(*pairs, strict=True)).tolist()
    expected = [by_hand(ranker, ranker.query(query), ranker.passage(passage)) for query, passage in pairs]
    assert np.ptp(expected) > 1 and found == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_the_words_of_the_loops_are_those_of_the_vocabulary(ranker):
    number = {word: 2 + place for place, word in enumerate(WORDS)}  # 0 is padding, 1 an unknown word
    assert ranker.query("Price of a POOL table") == [number[word] for word in ("price", "of", "a", "pool")]
    assert ranker.passage("café, Unknown") == [number["café"], 1, 1] and ranker.passage("x") == [number["x"]]
