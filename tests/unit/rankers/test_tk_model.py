"""TK's equations, part by part: kernels by hand, waves, padding, precision, gradients, sizes."""

import math

import numpy as np
import pytest
import torch

from epic.model.bert import Packed
from epic.rankers.tk_model import MU, SIGMA, TK, Contextualiser, Kernels, Layer, waves

SIZES = {"layers": 2, "heads": 2, "projection": 4, "feed_forward": 5}
TEXTS = [[2, 3, 1], [4], [], [1, 1], [5, 2, 3, 4, 2, 6]]  # 1 is the unknown word


@pytest.fixture
def tk():
    """A small TK in double precision, from the first number on."""
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(5)
    yield TK(torch.randn(8, 6), longest=9, **SIZES)
    torch.set_default_dtype(torch.float32)


def test_kernels_by_hand_on_three_query_words_and_four_passage_words():
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    d = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [-1.0, 0.0]])
    cosines = [[1.0, 0.0, 0.8, -1.0], [0.0, 1.0, 0.6, 0.0], [0.6, 0.8, 0.96, -0.6]]
    counts = [[sum(math.exp(-((c - mu) ** 2) / 0.02) for c in row) for mu in MU] for row in cosines]  # 3 x 11
    assert counts[0][:2] == [pytest.approx(1 + math.exp(-2)), pytest.approx(2 * math.exp(-0.5))]  # 1 and 0.8 at centres 1 and 0.9
    assert counts[1][5] == pytest.approx(2 * math.exp(-0.5) + math.exp(-12.5)) and counts[2][8] == pytest.approx(math.exp(-0.5))
    kernels, real = Kernels(), (torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 4, dtype=torch.bool))
    for k in range(len(MU)):
        with torch.no_grad():
            for branch in (kernels.log_sums, kernels.mean_sums):
                branch.weight.copy_(torch.eye(len(MU))[k : k + 1])
            kernels.both.weight.copy_(torch.tensor([[1.0, 0.0]]))
            logs = kernels(q[None], real[0], d[None], real[1]).item()
            kernels.both.weight.copy_(torch.tensor([[0.0, 1.0]]))
            means = kernels(q[None], real[0], d[None], real[1]).item()
        assert logs == pytest.approx(sum(0.01 * math.log2(max(row[k], 1e-10)) for row in counts), rel=1e-5)
        assert means == pytest.approx(sum(0.01 * row[k] / 5 for row in counts), rel=1e-5)  # 4 words, and one


def test_there_are_eleven_kernels_all_as_wide():
    assert MU == (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1, -0.3, -0.5, -0.7, -0.9) and SIGMA == 0.1


def test_what_starts_at_random_starts_as_in_the_authors_code():
    torch.manual_seed(1)
    tk = TK(torch.randn(8, 6), longest=9, **SIZES)
    for branch in (tk.kernels.log_sums, tk.kernels.mean_sums):
        assert branch.bias is None and branch.weight.shape == (1, 11) and 0.005 < branch.weight.abs().max() <= 0.014
    assert tk.kernels.both.bias is None and tk.kernels.both.weight.shape == (1, 2)
    assert tk.mixture.item() == 0.5 and tk.kernels.scale.item() == pytest.approx(0.01)
    assert not any("waves" in name or "mu" in name for name in tk.state_dict())


def test_waves_are_sines_then_cosines_slower_and_slower():
    found = waves(5, 300)
    assert found.shape == (5, 300) and found.dtype == torch.float32
    assert not found[0, :150].any() and (found[0, 150:] == 1).all()
    assert found[3, 0].item() == pytest.approx(math.sin(3)) and found[3, 150].item() == pytest.approx(math.cos(3))
    assert found[3, 149].item() == pytest.approx(math.sin(3e-4)) and found[3, 299].item() == pytest.approx(math.cos(3e-4))
    ratio = 1e4 ** (1 / 149)
    assert found[3, 1].item() == pytest.approx(math.sin(3 / ratio))


@pytest.mark.parametrize("layers", [1, 3])
def test_parameters_are_counted_by_a_formula(layers):
    e, f, p, words = 300, 100, 32, 7
    tk = TK(torch.randn(words, e), longest=200, layers=layers, heads=16, projection=p, feed_forward=f)
    layer = (e * f + f) + (f * e + e) + (e * 3 * p + 3 * p) + (p * e + e) + 2 * 2 * e
    found = {name: value.numel() for name, value in tk.named_parameters()}
    assert sum(found.values()) == words * e + layers * layer + 11 + 11 + 2 + 1 + 1
    assert layer == 100_396 and found["words.weight"] == words * e


def test_a_layer_divides_products_by_the_root_of_dimensions_by_heads():
    assert Layer(300, 16, 32, 100).scale == pytest.approx(1 / math.sqrt(18))


def test_texts_are_contextualised_each_by_itself_and_empty_ones_have_no_words(tk):
    together = tk.terms(TEXTS)
    assert together.lengths == [3, 1, 0, 2, 6] and together.rows.shape == (12, 6)
    alone = torch.cat([tk.terms([text]).rows for text in TEXTS])
    assert torch.allclose(together.rows, alone, rtol=1e-12) and torch.allclose(together.rows.norm(dim=1), torch.ones(12))
    assert tk.terms([[], []]).rows.shape == (0, 6) and tk.terms([[], []]).lengths == [0, 0]


def test_a_word_depends_on_its_place_and_on_its_neighbours(tk):
    rows = tk.terms([[2, 3], [3, 2], [2, 4]]).rows
    assert not torch.allclose(rows[0], rows[3]) and not torch.allclose(rows[0], rows[4])


def test_attention_in_a_padded_batch_is_that_of_each_text(tk):
    texts = [text for text in TEXTS if text]
    packed, layer = Packed.of(texts, "cpu"), tk.contextualiser.layers[0]
    qkv = torch.randn(len(packed.ids), 12)
    assert torch.allclose(layer._padded(qkv, packed.padding), layer._by_text(qkv, packed.padding), rtol=1e-12)
    same = Packed.of([[2, 3], [4, 5]], "cpu")
    assert same.padding.real is None
    assert torch.allclose(layer._padded(qkv[:4], same.padding), layer._by_text(qkv[:4], same.padding), rtol=1e-12)


def test_a_pair_has_the_same_score_whatever_stands_beside_it(tk):
    terms = tk.terms(TEXTS)
    every = [(left, right) for left in range(5) for right in range(5)]
    batch = terms.padded()
    found = tk.similarities(*(batch.of(list(side)) for side in zip(*every, strict=True)))
    for (left, right), value in zip(every, found.tolist(), strict=True):
        alone = tk.similarities(tk.terms([TEXTS[left]]).padded(), tk.terms([TEXTS[right]]).padded())
        assert value == pytest.approx(alone.item(), rel=1e-12, abs=1e-15)


def test_some_texts_are_taken_out_in_any_order(tk):
    terms = tk.terms(TEXTS)
    some = terms.of(np.array([4, 2, 0]))
    assert some.lengths == [6, 0, 3] and torch.equal(some.rows, torch.cat([terms.rows[6:], terms.rows[:3]]))
    assert terms.of(np.array([2])).rows.shape == (0, 6)
    batch = terms.padded()
    assert batch.of(range(5)) is batch and batch.vectors.shape == (5, 6, 6)
    assert (
        torch.equal(batch.of([1, 1]).vectors[1, :1], terms.rows[3:4])
        and batch.of([1, 1]).real.tolist() == [[True] + 5 * [False]] * 2
    )


def test_only_padding_is_masked_and_unknown_words_match_each_other(tk):
    one, two = tk.terms([[1]]).padded(), tk.terms([[1, 1]]).padded()
    assert two.real.all() and tk.similarities(one, one).item() != tk.similarities(one, two).item()


def loss_of(tk):
    terms = tk.terms(TEXTS).padded()
    return tk.similarities(terms.of([0, 4, 1, 3, 2]), terms.of([4, 0, 2, 3, 0])) @ torch.tensor([300.0, -200.0, 100.0, 50.0, 7.0])


def test_gradients_are_those_of_finite_differences(tk):
    with torch.no_grad():
        for weight in (tk.kernels.log_sums.weight, tk.kernels.mean_sums.weight):
            weight.mul_(30)
    loss_of(tk).backward()
    draw = np.random.default_rng(0)
    for name, weight in tk.named_parameters():
        grad = (weight.grad.to_dense() if weight.grad.is_sparse else weight.grad).flatten()
        assert weight.grad.is_sparse == (name == "words.weight")
        for place in draw.choice(weight.numel(), min(weight.numel(), 6), replace=False):
            sides = []
            for step in (1e-6, -1e-6):
                with torch.no_grad():
                    weight.view(-1)[place] += step
                    sides.append(loss_of(tk).item())
                    weight.view(-1)[place] -= step
            assert grad[place].item() == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-5, abs=1e-6), (name, place)


def test_words_that_no_text_has_get_no_gradient(tk):
    loss_of(tk).backward()
    assert sorted(set(tk.words.weight.grad.coalesce().indices()[0].tolist())) == [1, 2, 3, 4, 5, 6]


def test_mixed_precision_lowers_products_of_layers_but_neither_cosines_nor_kernels():
    torch.manual_seed(5)
    tk = TK(torch.randn(40, 32), longest=9, **SIZES).eval()
    texts = [list(range(2, 9)), [9, 3, 11], [30, 31, 2, 3]]
    with torch.no_grad():
        expected = tk.similarities(tk.terms(texts).padded(), tk.terms(texts[::-1]).padded())
        with torch.autocast("cpu", torch.bfloat16):
            assert tk.contextualiser.layers[0].inner(torch.randn(3, 32)).dtype == torch.bfloat16
            terms, others = tk.terms(texts), tk.terms(texts[::-1])
            assert terms.rows.dtype == torch.float32
            found = tk.similarities(terms.padded(), others.padded())
        exact = tk.kernels(*terms.padded(), *others.padded())
    assert found.dtype == torch.float32 and torch.equal(found, exact)  # as without autocast
    assert found.isfinite().all() and found.tolist() == pytest.approx(expected.tolist(), rel=0.02, abs=2e-3)


def test_rows_that_fill_products_up_do_not_show():
    """In inference on a CPU, rows are filled up to a number that oneDNN likes."""
    torch.manual_seed(5)
    tk, texts = (
        TK(torch.randn(40, 32), longest=200, **SIZES).eval(),
        [[2 + (i * j) % 37 for j in range(60 + i)] for i in range(9)],
    )
    with torch.inference_mode():
        fast = tk.terms(texts)
    slow = tk.terms(texts)
    assert fast.rows.shape == slow.rows.shape == (576, 32) and fast.lengths == slow.lengths
    assert torch.allclose(fast.rows, slow.rows, atol=1e-5)


def test_the_contextualiser_adds_positions_once():
    one = Contextualiser(6, 9, 0, 2, 4, 5)
    packed = Packed.of([[2, 3], [4]], "cpu")
    assert torch.allclose(one(torch.zeros(3, 6), packed), waves(9, 6)[[0, 1, 0]])
