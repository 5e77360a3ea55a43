"""Generated queries: top-k sampling, exactly, and the same whatever is generated beside."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.core.files import InputError
from epic.first_stage.noise import gumbel
from epic.first_stage.query_generator import Drawing, QueryGenerator, Sampling, Tokens
from tests.generators import DRAWING

TEXTS = ["price of a pool", "what is x", "price of a boot", "x", "pool of what price is it then"]


def opened(folder, **changes):
    return QueryGenerator(folder, Drawing(**DRAWING | changes), "cpu", 1, "float32")


def alone(generator, texts=TEXTS):
    """The queries of some texts, one at a time."""
    return [generator.queries([Tokens(place, ids)])[0] for place, ids in enumerate(generator.tokens(texts))]


@pytest.fixture(scope="module")
def generator(generator_folder):
    return opened(generator_folder)


def test_a_draw_has_the_distribution_of_the_softmax_of_the_top_k():
    logits = torch.tensor([1.0, -0.5, 2.0, 0.3, 1.6, -3.0, 0.9, 1.2])  # (v,)
    drawing, draws = Drawing(**DRAWING | {"top_k": 4, "samples": 2}), 20_000
    sampling = Sampling(drawing, list(range(draws // 2)), "cpu")
    for step in (0, 3):
        found = sampling(torch.zeros(draws, step + 1, dtype=torch.int64), logits.expand(draws, 8))  # (n, v)
        assert (found.isfinite().sum(dim=1) == 1).all()
        counts = found.isfinite().sum(dim=0)  # (v,)
        assert set(counts.nonzero().flatten().tolist()) == {0, 2, 4, 7}
        expected = draws * torch.softmax(logits[[0, 2, 4, 7]], dim=0)  # (4,)
        assert ((counts[[0, 2, 4, 7]] - expected) ** 2 / expected).sum() < 11.34  # chi-square, 3 degrees of freedom, p = 0.01


def test_draws_of_samples_and_steps_are_independent():
    drawing, logits = Drawing(**DRAWING | {"top_k": 2, "samples": 2}), torch.zeros(10_000, 2)
    sampling = Sampling(drawing, list(range(5_000)), "cpu")
    drawn = [sampling(torch.zeros(10_000, step + 1), logits).argmax(dim=1).reshape(5_000, 2) for step in range(2)]
    pairs = [(drawn[0][:, 0], drawn[0][:, 1]), (drawn[0][:, 0], drawn[1][:, 0]), (drawn[0][:-1, 0], drawn[0][1:, 0])]
    for left, right in pairs:
        assert abs((left == right).double().mean() - 0.5) < 0.02


def test_queries_are_those_of_a_plain_loop_without_caches_or_batches(generator):
    model, drawing = generator.model, generator.drawing
    for place, ids in enumerate(generator.tokens(TEXTS)):
        for sample, found in enumerate(generator.queries([Tokens(place, ids)])[0]):
            written = [0]
            while len(written) <= drawing.max_output and written[-1] != 1:
                logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([written])).logits[0, -1]  # (v,)
                best, tokens = logits.topk(drawing.top_k)
                where = torch.tensor([[place]]), torch.tensor([[sample]])
                noisy = best.double() + gumbel(drawing.seed, *where, len(written) - 1, tokens[None])[0]
                written.append(tokens[noisy.argmax()].item())
            text = generator.tokenizer.decode(written)
            assert found == text.replace("\n", " ").replace("\t", " ").strip()


def test_with_one_likely_token_a_query_is_that_of_greedy_decoding(generator_folder):
    generator = opened(generator_folder, top_k=1, samples=2)
    ids = generator.tokens(TEXTS[:1])
    plain = generator.model.generate(input_ids=torch.tensor(ids))  # (1, 1 + steps)
    first, second = generator.queries([Tokens(5, ids[0])])[0]
    assert first == second == generator.tokenizer.decode(plain[0].tolist()).replace("\n", " ").strip()


def test_queries_do_not_depend_on_what_is_generated_beside(generator):
    ids = generator.tokens(["price of a door", "price of a boot", "price of a coal"])
    assert len(set(map(len, ids))) == 1
    passages = [Tokens(place, passage) for place, passage in enumerate(ids)]
    expected = [generator.queries([passage])[0] for passage in passages]
    assert generator.queries(passages) == expected and generator.queries(passages[::-1]) == expected[::-1]
    assert expected[0] != generator.queries([Tokens(9, ids[0])])[0]  # a passage that stands twice gets queries of its own


def test_fewer_samples_are_the_first_of_more(generator, generator_folder):
    more = alone(opened(generator_folder, samples=5))
    assert [some[:3] for some in more] == alone(generator)
    assert len({query for some in more for query in some}) > 15


def test_another_seed_draws_other_queries(generator, generator_folder):
    found = alone(opened(generator_folder, seed=8))
    assert sum(left != right for left, right in zip(found, alone(generator), strict=True)) == len(TEXTS)


def test_a_passage_is_read_once_for_all_its_samples(generator):
    rows = {"encoder": [], "keys": []}
    encoder, keys = generator.model.get_encoder(), generator.model.decoder.block[1].layer[1].EncDecAttention.k
    hooks = [
        encoder.register_forward_hook(lambda _, arguments, output: rows["encoder"].append(len(output.last_hidden_state))),
        keys.register_forward_hook(lambda _, arguments, output: rows["keys"].append(len(output))),
    ]
    try:
        generator.queries([Tokens(place, ids) for place, ids in enumerate(generator.tokens(["price", "pool"]))])
    finally:
        for hook in hooks:
            hook.remove()
    assert rows == {"encoder": [2], "keys": [2]}


def test_passages_and_queries_are_cut(generator_folder):
    generator = opened(generator_folder, max_input=5, max_output=2)
    (ids,) = generator.tokens(["a b c d e f g h"])
    assert len(ids) == 5 and ids[-1] == 1
    longest = opened(generator_folder, max_input=5, max_output=40, samples=40)
    lengths = {len(query) for query in longest.queries([Tokens(0, ids)])[0]}
    assert max(lengths) > max(len(query) for query in generator.queries([Tokens(0, ids)])[0])
    assert min(lengths) < max(lengths) / 2  # some end early


def test_a_passage_without_a_token_has_none(generator):
    assert generator.tokens(["", "  \n ", "x"])[:2] == [[], []]


def test_a_query_is_one_line_without_control_characters(generator_folder):
    generator = opened(generator_folder, samples=200, max_output=10)
    decoded = []
    generator.tokenizer, plain = _Listening(generator.tokenizer, decoded), generator.tokenizer
    found = generator.queries([Tokens(0, plain.encode("x").ids)])[0]
    assert any("\n" in text for text in decoded) and any("\t" in text for text in decoded)
    assert len(found) == 200 and not any(set(query) & set("\n\t\r\0") for query in found)
    assert found == [query.strip() for query in found]


class _Listening:
    """A tokenizer whose decoded texts are written down."""

    def __init__(self, tokenizer, decoded):
        self.tokenizer, self.decoded = tokenizer, decoded

    def decode_batch(self, ids):
        self.decoded += self.tokenizer.decode_batch(ids)
        return self.decoded


def test_logits_that_are_no_numbers_are_refused(generator_folder):
    generator = opened(generator_folder)
    with torch.no_grad():
        generator.model.shared.weight[3] = torch.nan
    with pytest.raises(InputError, match="logits are no numbers in float32"):
        generator.queries([Tokens(0, [3, 1])])


def test_a_model_that_does_not_say_how_a_query_begins_is_refused(generator_folder, tmp_path):
    shutil.copytree(generator_folder, tmp_path / "g")
    config = json.loads((tmp_path / "g" / "config.json").read_text())
    (tmp_path / "g" / "config.json").write_text(json.dumps(config | {"decoder_start_token_id": None}))
    with pytest.raises(InputError, match=r"config\.json has no decoder_start_token_id"):
        opened(tmp_path / "g")


def changed_weights(folder, out, change):
    """The generator with other weights."""
    shutil.copytree(folder, out)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    return out


def test_a_file_that_lacks_weights_is_refused(generator_folder, tmp_path):
    name = "decoder.block.1.layer.1.EncDecAttention.q.weight"
    with pytest.raises(InputError, match=rf"has no {name} \(1 weights are missing\)"):
        opened(changed_weights(generator_folder, tmp_path / "g", lambda weights: weights.pop(name)))


def with_config(folder, out, **config):
    """The generator with other keys of config.json."""
    shutil.copytree(folder, out)
    said = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(said | config))
    return out


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"d_model": 32}, "transformers cannot load it"),
        ({"vocab_size": 99}, "transformers cannot load it"),
        ({"d_ff": 16}, "transformers cannot load it"),
        ({"num_heads": 3}, "transformers cannot load it"),
        ({"num_layers": 3, "num_decoder_layers": 3}, r"has no (de|en)coder\.block\.2\..* weights are missing"),
        ({"num_layers": 1}, r"has encoder\.block\.1\..*, of a layer that config\.json does not know"),
        ({"num_decoder_layers": 1}, r"has decoder\.block\.1\..*, of a layer that config\.json does not know"),
        ({"d_model": "x"}, "transformers cannot load it"),
        ({"num_layers": None}, "transformers cannot load it"),
    ],
)
def test_a_config_json_of_other_weights_is_refused_in_one_line(generator_folder, tmp_path, config, said):
    folder = with_config(generator_folder, tmp_path / "g", **config)
    with pytest.raises(InputError, match=f"^{folder}.*{said}") as error:
        opened(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:40])])
def test_a_missing_or_damaged_file_is_refused(generator_folder, tmp_path, name, damage):
    folder = shutil.copytree(generator_folder, tmp_path / "g")
    damage(folder / name)
    with pytest.raises(InputError, match=f"^{folder}") as error:
        opened(folder)
    assert "\n" not in str(error.value)


def test_a_tokenizer_of_another_model_is_refused_at_the_first_token_that_the_model_lacks(generator_folder, tmp_path):
    folder = shutil.copytree(generator_folder, tmp_path / "g")
    facts = json.loads((folder / "tokenizer.json").read_text())
    facts["model"]["vocab"] += [[f"▁w{number}", -0.1] for number in range(9)]
    (folder / "tokenizer.json").write_text(json.dumps(facts))
    generator = opened(folder)
    assert generator.tokens(["price of a pool"])
    with pytest.raises(
        InputError, match=r"generator g: tokenizer\.json has a token \d+, the model only 42; are they one model's"
    ):
        generator.tokens(["price of a pool", "w8"])


def test_weights_of_another_size_are_refused(generator_folder, tmp_path):
    other = {"shared.weight": torch.zeros(9, 16)}
    with pytest.raises(InputError, match="transformers cannot load it .* are config.json and weights one model's"):
        opened(changed_weights(generator_folder, tmp_path / "g", lambda weights: weights.update(other)))
