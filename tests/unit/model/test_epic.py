"""The model: fast scores and gradients equal the equations, windows, padding, checkpoints."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.core.files import InputError, read_json, sha256_of
from epic.model.epic import EpicModel
from epic.model.equations import phi_d, phi_q, sim
from epic.model.tokens import windows_of
from epic.training.loss import LOSSES
from epic.vectors.phi import document_vectors


def tokens(model, *texts):
    return model.passage_tokens(model.pieces(texts))


def plain_vector(model, passage):
    """phi_d over the whole vocabulary, (1, V)."""
    d, equations = tokens(model, passage), model.equations
    every = torch.ones(1, d.lengths[0], dtype=torch.bool)
    psi = equations.psi(equations.hidden(d.f), slice(0, model.vocabulary))
    return phi_d(equations.w_d(d.f)[None], psi[None], equations.c(d.cls), every)


def plain_scores(model, query, passages):
    """Equations 1 to 5 as printed, passage by passage, with phi_d over the whole vocabulary."""
    q = model.query_tokens(model.pieces([query]))
    asked = phi_q(model.equations.w_q(q.f)[None], q.ids[None], q.padding().mask(q.f), model.vocabulary)
    return sim(asked, torch.cat([plain_vector(model, passage) for passage in passages]))


def fast_scores(model, queries, passages):
    return model.similarities(model.query_tokens(model.pieces(queries)), tokens(model, *passages))


QUERIES = ["cost of pool", "a a b", "z"]
PASSAGES = ["price of a pool", "x", "", "c d e f g h i j k l m n o p q r s t u v", "pools café", "a b a"]


@torch.inference_mode()
def test_scores_at_the_query_terms_equal_the_full_equations(model):
    fast = fast_scores(model, QUERIES, PASSAGES)
    for row, query in enumerate(QUERIES):
        plain = plain_scores(model, query, PASSAGES[2 * row : 2 * row + 2])
        assert torch.allclose(fast[row], plain, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", LOSSES)
def test_loss_and_all_gradients_equal_those_of_the_plain_formula(model, loss):
    fast = LOSSES[loss](fast_scores(model, QUERIES, PASSAGES)).sum()
    fast.backward()
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    model.zero_grad()
    scores = [plain_scores(model, query, PASSAGES[2 * row : 2 * row + 2]) for row, query in enumerate(QUERIES)]
    plain = LOSSES[loss](torch.stack(scores)).sum()
    plain.backward()
    assert fast.item() == pytest.approx(plain.item(), rel=1e-12)
    expected = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert found.keys() == expected.keys() >= {"body.embeddings.word_embeddings.weight"}
    for name, gradient in expected.items():
        scale = gradient.abs().max().item()
        assert scale > 0 or "key.bias" in name, name
        assert (found[name] - gradient).abs().max().item() <= max(1e-12 * scale, 1e-16), name


def test_gradients_agree_with_finite_differences(model):
    """Of all parameters that the equations add, and of one in the body."""
    step = 1e-6

    def value():
        return LOSSES["cross-entropy"](fast_scores(model, QUERIES, PASSAGES)).sum()

    value().backward()
    checked = [
        (name, p) for name, p in model.named_parameters() if name.startswith("equations.") or "layer.1.output.dense.w" in name
    ]
    assert len(checked) > 4
    for name, parameter in checked:
        flat, gradient = parameter.data.view(-1), parameter.grad.view(-1)
        place = int(gradient.abs().argmax())
        with torch.no_grad():
            flat[place] += step
            above = value().item()
            flat[place] -= 2 * step
            below = value().item()
            flat[place] += step
        assert (above - below) / (2 * step) == pytest.approx(gradient[place].item(), rel=1e-5, abs=1e-9), name


@torch.inference_mode()
def test_a_text_does_not_depend_on_what_else_is_in_the_batch(model):
    alone = tokens(model, "a b c")
    among = tokens(model, "x", "a b c", "d e f g h i j k l m n o p q r s t u v w x y z", "")
    assert torch.allclose(alone.f, among.padding().pad(among.f)[1, :3], rtol=1e-12, atol=1e-12)
    assert torch.allclose(alone.cls[0], among.cls[1], rtol=1e-12, atol=1e-12)


@torch.inference_mode()
def test_scores_do_not_depend_on_batch_order_or_size(model):
    pairs = [(query, passage) for query in QUERIES for passage in PASSAGES]
    one = [fast_scores(model, [query], [passage]).item() for query, passage in pairs]
    together = fast_scores(model, [query for query, _ in pairs], [passage for _, passage in pairs])[:, 0].tolist()
    backwards = fast_scores(model, [query for query, _ in pairs[::-1]], [passage for _, passage in pairs[::-1]])[:, 0].tolist()
    assert together == pytest.approx(one, rel=1e-12, abs=1e-15)
    assert backwards[::-1] == pytest.approx(one, rel=1e-12, abs=1e-15)


@torch.inference_mode()
def test_padding_never_wins_where_all_values_are_negative(paper_model):
    """A short passage beside a long one, in one batch: with psi below zero a padded zero would be the maximum."""
    paper_model.equations.Theta2.copy_(
        -paper_model.query_tokens(paper_model.pieces(["a"])).f.sign().repeat(paper_model.vocabulary, 1)
    )
    short, long = "a", "a b c d e f g h"
    assert (plain_vector(paper_model, short) < 0).any()
    assert fast_scores(paper_model, ["a"], [short, long])[0, 0] == pytest.approx(plain_scores(paper_model, "a", [short]).item())
    together = document_vectors(paper_model.float(), paper_model.pieces([short, long]), 7)
    assert (together[0] == document_vectors(paper_model, paper_model.pieces([short]), 7)[0]).all()


@torch.inference_mode()
def test_a_long_text_is_split_into_windows_and_joined_never_cut(model):
    text = " ".join("abcdefghijklmnopqrstuvwxyz" * 30)  # 780 word-pieces, windows of 14
    found = tokens(model, text)
    assert found.lengths == [780] and found.f.shape[0] == 780
    parts = [model.passage_tokens([window]) for window in windows_of(model.pieces([text])[0], model.body.window)]
    assert torch.allclose(found.f, torch.cat([part.f for part in parts]), rtol=1e-10, atol=1e-12)
    assert torch.allclose(found.cls, torch.cat([part.cls for part in parts]).mean(dim=0), rtol=1e-10, atol=1e-12)
    assert plain_scores(model, "a z", [text]).item() == pytest.approx(fast_scores(model, ["a z"], [text]).item(), rel=1e-12)


@torch.inference_mode()
def test_passages_carry_the_segment_of_their_formulation(model):
    pieces = model.pieces(["a b"])
    same = torch.equal(model.query_tokens(pieces).f, model.passage_tokens(pieces).f)
    assert same == (model.formulation == "paper")


@torch.inference_mode()
def test_an_empty_query_or_passage_scores_zero(model):
    assert fast_scores(model, [""], ["a", "b"]).tolist() == [[0.0, 0.0]]
    assert fast_scores(model, ["a"], ["", ""]).tolist() == [[0.0, 0.0]]
    assert not document_vectors(model.float(), model.pieces([""]), 7).any()


def test_the_tokenizer_does_not_cut(model):
    assert len(model.pieces(["a b c d e f g"])[0]) == 7
    assert len(model.pieces(["a b c d e f g"], limit=3)[0]) == 3


@torch.inference_mode()
@pytest.mark.parametrize("block", [1, 7, 1000])
def test_encoded_vectors_equal_equation_four_whatever_the_block(model, block):
    texts = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p"]
    found = document_vectors(model.float(), model.pieces(texts), block)
    for row, text in enumerate(texts):
        expected = plain_vector(model, text)[0] if text else torch.zeros(model.vocabulary)
        assert torch.allclose(torch.from_numpy(found[row]).float(), expected, rtol=2e-3, atol=1e-6)


def test_a_checkpoint_comes_back_as_it_was(model, tmp_path):
    model = model.float()
    model.save_pretrained(tmp_path / "checkpoint", lambda digest: f"the card of {digest}")
    again = EpicModel.from_pretrained(tmp_path / "checkpoint")
    assert again.formulation == model.formulation and not again.training
    before, after = model.state_dict(), again.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == [
        "README.md", "config.json", "epic.json", "model.safetensors", "tokenizer.json",
    ]  # fmt: skip
    digest = sha256_of(tmp_path / "checkpoint" / "model.safetensors")
    assert (tmp_path / "checkpoint" / "README.md").read_text() == f"the card of {digest}"
    with torch.inference_mode():
        assert torch.equal(fast_scores(model, ["a"], ["a b", "c"]), fast_scores(again, ["a"], ["a b", "c"]))


def test_a_checkpoint_says_whether_texts_are_encoded_as_in_the_released_batches(released, tmp_path):
    released.save_pretrained(tmp_path / "without")
    assert read_json(tmp_path / "without" / "epic.json") == {"formulation": "released", "vocabulary": released.vocabulary}
    assert not EpicModel.from_pretrained(tmp_path / "without").released_batches
    released.released_batches = True
    released.save_pretrained(tmp_path / "with")
    assert EpicModel.from_pretrained(tmp_path / "with").released_batches


def test_a_folder_without_a_checkpoint_and_damaged_weights_are_refused(paper_model, tmp_path):
    with pytest.raises(InputError, match="not an EPIC checkpoint"):
        EpicModel.from_pretrained(tmp_path)
    paper_model.save_pretrained(tmp_path / "checkpoint")
    weights = tmp_path / "checkpoint" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"model\.safetensors: not the weights of this model, or damaged"):
        EpicModel.from_pretrained(tmp_path / "checkpoint")


def test_a_folder_of_something_else_is_not_replaced(paper_model, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="exists and is no EPIC checkpoint"):
        paper_model.save_pretrained(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()
    for _ in range(2):  # a checkpoint, or an empty folder, may be
        paper_model.save_pretrained(tmp_path / "checkpoint")


def test_theta2_starts_as_a_copy_of_the_decoder_or_the_word_embeddings(tiny_encoder, paper_model):
    for model in (EpicModel.from_encoder(tiny_encoder, "paper", seed=7).double(), paper_model):
        embeddings = model.body.words.weight
        assert torch.equal(model.equations.Theta2, embeddings)
        assert model.equations.Theta2.data_ptr() != embeddings.data_ptr()


def test_the_seed_decides_the_random_parameters_and_nothing_else(mlm_encoder):
    for formulation, name in (("paper", "equations.theta1"), ("released", "equations.theta1.weight")):
        one, same, other = (EpicModel.from_encoder(mlm_encoder, formulation, seed).state_dict() for seed in (1, 1, 2))
        assert torch.equal(one[name], same[name]) and not torch.equal(one[name], other[name])
        random = {key for key in one if not torch.equal(one[key], other[key])}
        assert {key.split(".")[1] for key in random} == {"theta1", "theta3", "theta4"}


def other(encoder, folder, weights=None, **config):
    """A copy of an encoder with other weights (None takes one away) and other keys of config.json."""
    shutil.copytree(encoder, folder)
    found = load_file(encoder / "model.safetensors") | (weights or {})
    save_file({name: value for name, value in found.items() if value is not None}, folder / "model.safetensors")
    facts = read_json(folder / "config.json") | config
    (folder / "config.json").write_text(json.dumps(facts))
    return folder


@pytest.mark.parametrize(
    ("weights", "config", "said"),
    [
        ({}, {"hidden_size": 16}, r"config\.json says vocab_size 37 and hidden_size 16"),
        ({}, {"num_hidden_layers": 1}, r"config\.json says num_hidden_layers 1, but model\.safetensors has 2"),
        ({}, {"max_position_embeddings": 512}, r"config\.json says max_position_embeddings 512"),
        ({}, {"vocab_size": 30522}, r"config\.json says vocab_size 30522"),
        ({}, {"num_attention_heads": 3}, "num_attention_heads 3, which does not divide hidden_size 8"),
        ({}, {"model_type": None}, r"config\.json: it names no model_type"),
        ({"bert.encoder.layer.1.output.dense.bias": None}, {}, r"has no encoder\.layer\.1\.output\.dense\.bias \(1 weights are missing"),
        ({"cls.predictions.bias": None}, {}, r"has no cls\.predictions\.bias .* in the masked-language-model head"),
        ({"cls.predictions.bias": torch.ones(9)}, {}, r"has cls\.predictions\.bias of the shape \(9,\), expected \(37,\)"),
        ({"cls.predictions.transform.dense.weight": torch.ones(8, 9)}, {}, r"of the shape \(8, 9\), expected \(8, 8\)"),
    ],
)  # fmt: skip
def test_an_encoder_whose_config_json_and_weights_differ_is_refused_in_one_line(mlm_encoder, tmp_path, weights, config, said):
    folder = other(mlm_encoder, tmp_path / "encoder", weights, **config)
    with pytest.raises(InputError, match=said) as error:
        EpicModel.from_encoder(folder, "released", seed=1)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_heads_that_it_does_not_use_may_be_there(mlm_encoder, tmp_path):
    more = {
        "cls.seq_relationship.weight": torch.ones(2, 8),
        "bert.pooler.dense.bias": torch.ones(3),
        "classifier.bias": torch.ones(9),
    }
    before = EpicModel.from_encoder(mlm_encoder, "released", seed=1).state_dict()
    after = EpicModel.from_encoder(other(mlm_encoder, tmp_path / "encoder", more), "released", seed=1).state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_an_encoder_of_one_segment_is_for_the_paper_s_form_alone(mlm_encoder, tmp_path):
    one = {"bert.embeddings.token_type_embeddings.weight": torch.ones(1, 8)}
    folder = other(mlm_encoder, tmp_path / "encoder", one, type_vocab_size=1)
    said = r"tells no segments apart \(type_vocab_size 1\), the formulation released has two; say paper"
    with pytest.raises(InputError, match=f"{folder}: the encoder {said}"):
        EpicModel.from_encoder(folder, "released", seed=1)
    model = EpicModel.from_encoder(folder, "paper", seed=1)
    assert fast_scores(model, ["a"], ["a b"]).isfinite().all()


def test_a_tokenizer_of_another_encoder_is_refused(mlm_encoder, tmp_path):
    folder = other(mlm_encoder, tmp_path / "encoder")
    facts = read_json(folder / "tokenizer.json")
    facts["model"]["vocab"]["more"] = 37
    (folder / "tokenizer.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=f"{folder}/tokenizer.json: 38 word-pieces, but the model has embeddings of 37"):
        EpicModel.from_encoder(folder, "paper", seed=1)


def test_a_vocabulary_beyond_16_bits_is_refused(paper_model):
    paper_model.body.embeddings.word_embeddings = torch.nn.Embedding(65_536, 8)
    with pytest.raises(InputError, match="65536 vocabulary entries"):
        EpicModel("paper", paper_model.body, None, paper_model.tokenizer)
