"""The model: fast scores equal the equations, windows, padding, checkpoints."""

import pytest
import torch

from epic.encode import document_vectors
from epic.equations import document_vector, expansion, importance, quality, query_vector, similarity
from epic.files import InputError
from epic.model import Epic, windows_of


def plain_scores(model, query, passages):
    """Equations 1 to 5 as printed, with phi_d over the whole vocabulary."""
    q = model.encode(model.pieces([query]))
    phi_q = query_vector(importance(model.theta1, q.f)[None], q.ids[None], q.mask(), model.vocabulary)
    phi_d = []
    for passage in passages:
        d = model.encode(model.pieces([passage]))
        w, psi = importance(model.theta3, d.f)[None], expansion(model.Theta2, d.f)[None]
        mask = torch.ones(w.shape, dtype=torch.bool)
        empty = torch.zeros(1, model.vocabulary, dtype=w.dtype)
        phi_d.append(document_vector(w, psi, quality(model.theta4, d.cls), mask) if d.lengths[0] else empty)
    return similarity(phi_q, torch.cat(phi_d))


@torch.inference_mode()
def test_scores_at_the_query_terms_equal_the_full_equations(model):
    queries = ["cost of pool", "a a b", "z"]
    passages = ["price of a pool", "x", "", "c d e f g h i j k l m n o p q r s t u v", "pools café", "a b a"]
    fast = model.score(model.encode(model.pieces(queries)), model.encode(model.pieces(passages)))
    for row, query in enumerate(queries):
        plain = plain_scores(model, query, passages[2 * row : 2 * row + 2])
        assert torch.allclose(fast[row], plain, rtol=1e-12, atol=1e-15)


def test_gradients_equal_those_of_the_full_equations(model):
    query, passages = "a cost a", ["price of pool b", "c"]
    fast = model.score(model.encode(model.pieces([query])), model.encode(model.pieces(passages)))
    fast.sum().backward()
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad()
    plain_scores(model, query, passages).sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            assert torch.allclose(found[name], parameter.grad, rtol=1e-10, atol=1e-14), name
    assert found["Theta2"].abs().sum() > 0


@torch.inference_mode()
def test_a_text_does_not_depend_on_what_else_is_in_the_batch(model):
    alone = model.encode(model.pieces(["a b c"]))
    among = model.encode(model.pieces(["x", "a b c", "d e f g h i j k l m n o p q r s t u v w x y z", ""]))
    assert torch.allclose(alone.f, among.padded(among.f)[1, :3], rtol=1e-12, atol=1e-12)
    assert torch.allclose(alone.cls[0], among.cls[1], rtol=1e-12, atol=1e-12)


@torch.inference_mode()
def test_a_long_text_is_split_into_windows_and_joined_never_cut(model):
    text = " ".join("abcdefghijklmnopqrstuvwxyz" * 30)  # 780 word-pieces, windows of 14
    tokens = model.encode(model.pieces([text]))
    assert tokens.lengths == [780] and tokens.f.shape[0] == 780
    pieces = model.pieces([text])[0]
    parts = [model.encode([window]) for window in windows_of(pieces, model.window)]
    assert torch.allclose(tokens.f, torch.cat([part.f for part in parts]), rtol=1e-10, atol=1e-12)
    assert torch.allclose(tokens.cls, torch.cat([part.cls for part in parts]).mean(dim=0), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("length", "expected"), [(0, [0]), (1, [1]), (14, [14]), (15, [7, 8]), (29, [9, 10, 10])])
def test_windows_are_few_and_nearly_equal(length, expected):
    windows = windows_of(list(range(length)), 14)
    assert [len(window) for window in windows] == expected
    assert [piece for window in windows for piece in window] == list(range(length))


@torch.inference_mode()
def test_an_empty_query_scores_zero(model):
    found = model.score(model.encode(model.pieces([""])), model.encode(model.pieces(["a", "b"])))
    assert found.tolist() == [[0.0, 0.0]]


def test_the_tokenizer_does_not_cut(model):
    assert len(model.pieces(["a b c d e f g"])[0]) == 7
    assert len(model.pieces(["a b c d e f g"], limit=3)[0]) == 3


@torch.inference_mode()
@pytest.mark.parametrize("block", [1, 7, 1000])
def test_encoded_vectors_equal_equation_four_whatever_the_block(model, block):
    texts = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p"]
    found = document_vectors(model.float(), model.pieces(texts), block)
    for row, text in enumerate(texts):
        d = model.encode(model.pieces([text]))
        if not d.lengths[0]:
            assert not found[row].any()
            continue
        w, psi = importance(model.theta3, d.f)[None], expansion(model.Theta2, d.f)[None]
        plain = document_vector(w, psi, quality(model.theta4, d.cls), torch.ones(w.shape, dtype=torch.bool))
        assert torch.allclose(torch.from_numpy(found[row]).float(), plain[0], rtol=2e-3, atol=1e-6)


def test_a_checkpoint_comes_back_as_it_was(model, tmp_path):
    model = model.float()
    model.save_pretrained(tmp_path / "checkpoint")
    again = Epic.from_pretrained(tmp_path / "checkpoint")
    assert all(
        torch.equal(left, right) for left, right in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
    )
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == [
        "config.json", "epic.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip


def test_a_folder_without_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(InputError, match="not an EPIC checkpoint"):
        Epic.from_pretrained(tmp_path)


def test_theta2_starts_as_a_copy_of_the_word_embeddings(model):
    embeddings = model.body.embeddings.word_embeddings.weight
    assert torch.equal(model.Theta2, embeddings)
    assert model.Theta2.data_ptr() != embeddings.data_ptr()


def test_the_seed_decides_the_random_parameters(tiny_encoder):
    one, same, other = (Epic.from_encoder(tiny_encoder, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.theta1, same.theta1)
    assert not torch.equal(one.theta1, other.theta1)
    assert torch.equal(one.Theta2, other.Theta2)
