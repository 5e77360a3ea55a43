"""Duet v2 against loops that compute its score as its description says it: one pair, one number at a time, in float64."""

import re

import numpy as np
import pytest
import torch

from epic.rankers import duet
from tests.words import BEYOND, IDF, WORDS, duet_settings, write_vocabulary

PAIRS = [
    ("price of pool", "a pool of any price: a pool!"),
    ("pool pool spa", "the spa, Spa and pool"),
    ("swim unknown a", "unknown swim a b c x cost of price pool"),  # longer than a passage may be
    ("", "a b"),
    ("cost of a b c x pool", ""),
    ("x", "x"),
    ("Café co-st", "CO st caf pool\tcost"),
    ("nothing known", "not here either " * 9),
]


def plain_words(text, most):
    """Lower case; what is no letter, digit or blank becomes a blank; the first words of what is left."""
    return re.sub(r"[^a-z0-9\s]+", " ", text.lower()).split()[:most]


def relu(value):
    return value if value > 0 else 0.0


def layer(weight, bias, x):
    """ReLU of a linear layer, a sum at a time."""
    return np.array([relu(sum(w * v for w, v in zip(row, x, strict=True)) + b) for row, b in zip(weight, bias, strict=True)])


def windows(weight, bias, x):
    """Return ReLU of a convolution of vectors (words, D): (words - window + 1, H)."""
    hidden, dimensions, width = weight.shape
    found = np.zeros((len(x) - width + 1, hidden))
    for place in range(len(found)):
        for h in range(hidden):
            total = bias[h]
            for step in range(width):
                for d in range(dimensions):
                    total += weight[h, d, step] * x[place + step, d]
            found[place, h] = relu(total)
    return found


def vectors_of(words, length, embedding):
    """Return the vectors of words (length, D): row 0 for words outside of the vocabulary, zeros behind the last word."""
    found = np.zeros((length, embedding.shape[1]))
    for place, word in enumerate(words):
        found[place] = embedding[WORDS.index(word) + 1] if word in WORDS else embedding[0]
    return found


def plain_score(weights, settings, query, passage):
    """Return the score of a pair."""
    q, d = plain_words(query, settings["query_words"]), plain_words(passage, settings["passage_words"])
    idf = {word: value or 0.0 for word, value in zip(WORDS, IDF, strict=True)} | BEYOND
    match = np.zeros((settings["passage_words"], settings["query_words"]))
    for i, theirs in enumerate(d):
        for j, ours in enumerate(q):
            match[i, j] = idf.get(ours, 0.0) if theirs == ours else 0.0
    # local: a 1 x 1 convolution whose channels are the positions of the passage; all of it in one row
    kernel, bias = weights["positions.weight"][:, :, 0], weights["positions.bias"]
    local = np.zeros((settings["hidden"], settings["query_words"]))
    for h in range(settings["hidden"]):
        for j in range(settings["query_words"]):
            local[h, j] = relu(sum(kernel[h, i] * match[i, j] for i in range(settings["passage_words"])) + bias[h])
    local = local.reshape(-1)
    for name in ("local_layers.1", "local_layers.4"):
        local = layer(weights[f"{name}.weight"], weights[f"{name}.bias"], local)
    # distributed: the query is one vector, the passage one for each pool
    words = vectors_of(q, settings["query_words"], weights["embedding.weight"])
    ours = windows(weights["query_windows.weight"], weights["query_windows.bias"], words).max(0)
    ours = layer(weights["query_layer.weight"], weights["query_layer.bias"], ours)
    words = vectors_of(d, settings["passage_words"], weights["embedding.weight"])
    theirs = windows(weights["passage_windows.weight"], weights["passage_windows.bias"], words)
    pools = [theirs[start : start + settings["pool"]].max(0) for start in range(len(theirs) - settings["pool"] + 1)]
    pools = [layer(weights["pool_layer.weight"][:, :, 0], weights["pool_layer.bias"], pool) for pool in pools]
    both = np.array([[ours[h] * pool[h] for pool in pools] for h in range(settings["hidden"])]).reshape(-1)
    for name in ("distributed_layers.1", "distributed_layers.4"):
        both = layer(weights[f"{name}.weight"], weights[f"{name}.bias"], both)
    x = local + both
    for name in ("combined_layers.1", "combined_layers.4"):
        x = layer(weights[f"{name}.weight"], weights[f"{name}.bias"], x)
    return 0.1 * layer(weights["last.weight"], weights["last.bias"], x)[0]


def ranker_of(folder, **changes):
    """Return a network in float64 whose output is alive, and its weights as arrays."""
    settings = duet_settings(**changes)
    torch.manual_seed(5)
    ranker = duet.Ranker(settings, write_vocabulary(folder)).double().eval()
    with torch.no_grad():
        for name, value in ranker.named_parameters():
            value += 0.2 * torch.randn_like(value)  # row 0 of the embedding, too
            if name.endswith("last.bias"):
                value += 1.0  # above zero, whatever it is asked
    members = [{name: value.detach().numpy() for name, value in member.state_dict().items()} for member in ranker.members]
    return ranker, members, settings


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"members": 3},
        {"passage_words": 12, "pool": 2, "window": 2},  # more pools than a pool is wide
        {"window": 1, "pool": 1, "passage_words": 4, "query_words": 1},
        {"window": 5, "pool": 5},  # one pool, one window of a query
        {"hidden": 3, "dimensions": 7, "passage_words": 30, "pool": 10},  # passages that end before the first pool does
    ],
)
def test_the_whole_forward_pass_is_that_of_plain_loops(tmp_path, changes):
    ranker, members, settings = ranker_of(tmp_path / "words", **changes)
    expected = np.array([sum(plain_score(weights, settings, *pair) for weights in members) for pair in PAIRS])
    queries, passages = zip(*PAIRS, strict=True)
    with torch.no_grad():
        together = ranker.pairs(queries, passages).numpy()
        alone = np.array([ranker.pairs([query], [passage]).item() for query, passage in PAIRS])
    assert len(set(expected.round(9))) > len(PAIRS) / 2 and (expected > 0).all()  # it tells pairs apart
    assert np.abs(together - expected).max() < 1e-10 and np.abs(alone - expected).max() < 1e-10


def test_in_float32_the_score_is_the_same_up_to_rounding(tmp_path):
    ranker, (weights,), settings = ranker_of(tmp_path / "words")
    queries, passages = zip(*PAIRS, strict=True)
    with torch.no_grad():
        found = ranker.float().pairs(queries, passages).numpy()
    assert found.dtype == np.float32
    assert np.abs(found - [plain_score(weights, settings, *pair) for pair in PAIRS]).max() < 1e-5
