"""TK as a family: its settings, its words, its edges, its checkpoints, and that it learns."""

import json
import math
import re
import shutil
import signal
from copy import deepcopy

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.corpus.text_files import Triple
from epic.experiment.families import declared
from epic.experiment.fits import unmet
from epic.experiment.strict_schema import Validator
from epic.rankers import family, pairs, tk
from epic.training.examples import Example
from epic.training.resume import State
from epic.training.train import Learner, train
from tests.processes import call
from tests.tk import SETTINGS, WORDS, entry, train_in, write_vocabulary
from tests.training import settings, without_seconds, write_collection

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
PAPER = SETTINGS | {
    "layers": 3, "heads": 16, "projection": 32, "feed_forward": 100, "dimensions": 300, "query_words": 30, "passage_words": 200,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    return write_vocabulary(tmp_path / "v")


@pytest.fixture
def ranker(folder):
    return tk.create(folder, entry(), None, "cpu")


def loud(ranker):
    """The same with kernels whose scores differ in more than the last digits."""
    with torch.no_grad():
        for branch in (ranker.tk.kernels.log_sums, ranker.tk.kernels.mean_sums):
            branch.weight.mul_(300)
    return ranker


def test_tk_is_a_family_of_words_and_declares_its_stages():
    found = declared("tk")
    assert found.words and not found.precomputes and found.stages == {"beside": [["retrieve"]], "after": ["load", "score"]}
    assert family("tk") is tk and (tk.NEW_LAYERS, tk.SPARSE) == (("tk.kernels.log_sums",), ("tk.words",))


def refusals(**changes):
    model, found = {"settings": deepcopy(PAPER) | changes, "encoder": None, "start": None}, declared("tk")
    errors = [(tuple(error.absolute_path), error.message) for error in Validator(found.settings).iter_errors(model)]
    return [f"{'.'.join(map(str, place))}: {said}" for place, said in (*errors, *unmet(found.fits, model["settings"], {}))]


@pytest.mark.parametrize("layers", [1, 3])
def test_the_paper_s_settings_are_taken(layers):
    assert refusals(layers=layers) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 10}, "settings.heads: 10 is not one of"),
        ({"heads": 8, "projection": 36}, "settings.projection: heads (8) must divide projection (36)"),
        ({"dimensions": 301}, "settings.dimensions: dimensions (301) must be even"),
        ({"dimensions": 8}, "settings.dimensions: dimensions (8) must be no fewer than heads (16)"),
        ({"dimensions": 0}, "settings.dimensions: 0 is less than the minimum"),
        ({"layers": 0}, "settings.layers: 0 is less than the minimum"),
        ({"hidden": 3}, "'hidden' was unexpected"),
        ({"words": SETTINGS["words"] | {"tokeniser": "spaces"}}, "settings.words.tokeniser: 'spaces' is not one of"),
        ({"words": SETTINGS["words"] | {"vectors": "glove.txt"}}, "settings.words.vectors: 'glove.txt' does not match"),
        ({"words": SETTINGS["words"] | {"idf": "path:idf.tsv"}}, "settings.words.idf"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_any_job(changes, message):
    assert any(message in refusal for refusal in refusals(**changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 3}, r"settings\.projection: heads \(3\) must divide projection \(4\): each head has an equal part"),
        ({"dimensions": 7}, r"settings\.dimensions: dimensions \(7\) must be even"),
        ({"heads": 4, "dimensions": 2}, r"dimensions \(2\) must be no fewer than heads \(4\)"),
    ],
)
def test_sizes_that_allennlp_would_refuse_are_refused_by_the_code_too(folder, changes, message):
    with pytest.raises(InputError, match=message):
        tk.create(folder, entry(**changes), None, "cpu")


def test_a_model_without_a_vocabulary_is_refused():
    with pytest.raises(InputError, match="the family tk needs a vocabulary of words, and was given none"):
        tk.create(None, entry(), None, "cpu")


def test_words_are_numbered_after_padding_and_the_unknown_word_and_texts_are_cut(ranker):
    assert ranker.query("Pool price, of?") == [2, 3, 1, 4]  # a comma is a word of its own, and the fifth word is cut
    assert ranker.passage("a b c a b c a b c") == [5, 6, 7, 5, 6, 7, 5]
    assert ranker.passage("a b c", limit=2) == [5, 6] and len(ranker.passage("a " * 50, limit=30)) == 7
    assert ranker.passage("") == ranker.query("  ") == [] and ranker.passage("CAFÉ") == [2 + WORDS.index("café")]
    assert ranker.passage("naïve 東京 😀") == [1] * len(ranker.passage("naïve 東京 😀")) != []


def test_pair_scores_are_of_relevant_and_other_and_passages_are_cut_after_words(ranker):
    examples = [
        Example(Triple("q", "0", "1"), "cost of pool", "price of pool", ""),
        Example(Triple("r", "2", "3"), "café", "a b c", "x"),
    ]
    found = tk.pair_scores(ranker, examples, None)
    assert found.shape == (2, 2) and found.requires_grad
    alone = [[ranker.pairs([example.query], [text]).item() for text in example[2:]] for example in examples]
    assert found.tolist() == [pytest.approx(row, rel=1e-5, abs=1e-8) for row in alone]
    cut = tk.pair_scores(ranker, examples, 1)[1].tolist()
    assert cut == pytest.approx(ranker.pairs(["café"] * 2, ["a", "x"]).tolist(), rel=1e-5)


def test_a_query_without_words_scores_zero(ranker):
    assert loud(ranker).pairs(["", " "], ["price of pool", ""]).tolist() == [0.0, 0.0]


def test_a_passage_without_words_scores_as_one_without_any_match(ranker):
    kernels = loud(ranker).tk.kernels
    expected = 3 * 0.01 * math.log2(1e-10) * kernels.log_sums.weight.sum().item() * kernels.both.weight[0, 0].item()
    found = ranker.pairs(["price of pool"] * 2, ["", "pool"]).tolist()
    assert (
        found[0] == pytest.approx(expected, rel=1e-5) == pytest.approx(ranker.pairs(["price of pool"], [""]).item()) != found[1]
    )


@pytest.mark.parametrize("text", ["pool", "nothing of it known !", "東京 naïve 😀", "a " * 300])
def test_one_word_unknown_words_other_scripts_and_long_texts_have_finite_scores(ranker, text):
    found = ranker.pairs([text, "pool", text], ["pool", text, text])
    assert found.isfinite().all()


def test_what_is_beyond_the_last_word_does_not_count(ranker):
    ranker = loud(ranker)
    left, right = ranker.pairs(["a b"] * 2, ["x y z a b c x " + rest for rest in ("", "pool price of")]).tolist()
    assert left == right


def test_a_text_that_is_in_several_pairs_is_contextualised_once(ranker, monkeypatch):
    seen = []
    monkeypatch.setattr(ranker.tk, "terms", lambda texts, real=ranker.tk.terms: seen.append(texts) or real(texts))
    found = ranker.pairs(["a b", "a b", "c"], ["x", "y z", "x"])
    assert seen == [[[5, 6], [7]], [[10], [11, 12]]] and found.shape == (3,)


def test_a_checkpoint_comes_back_as_it_was_with_its_words(ranker, folder, tmp_path):
    tk.save(loud(ranker), tmp_path / "checkpoint", str)
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == [
        "README.md", "model.safetensors", "ranker.json", "vocabulary.json", "words.tsv",
    ]  # fmt: skip
    shutil.rmtree(folder)
    again = tk.load(tmp_path / "checkpoint", CPU)
    texts = ["price of a pool", "café"], ["pool of x", "unknown café"]
    assert torch.equal(again.pairs(*texts), ranker.pairs(*texts)) and not again.training
    state = ranker.state_dict()
    assert all(torch.equal(value, state[name]) for name, value in again.state_dict().items())
    tk.save(again, tmp_path / "two", str)
    assert (tmp_path / "two/model.safetensors").read_bytes() == (tmp_path / "checkpoint/model.safetensors").read_bytes()


def test_loading_draws_no_vectors(ranker, tmp_path, monkeypatch):
    tk.save(ranker, tmp_path / "checkpoint", str)
    monkeypatch.setattr(tk, "first_vectors", lambda *_: pytest.fail("vectors were drawn"))
    tk.load(tmp_path / "checkpoint", CPU)


def test_weights_of_another_vocabulary_are_refused(ranker, tmp_path):
    tk.save(ranker, tmp_path / "checkpoint", str)
    write_vocabulary(tmp_path / "other", ("one", "word"))
    for name in ranker.FILES:
        shutil.copyfile(tmp_path / "other" / name, tmp_path / "checkpoint" / name)
    with pytest.raises(InputError, match="not the weights of this model"):
        tk.load(tmp_path / "checkpoint", CPU)


def test_words_start_from_their_pre_trained_vectors_and_others_like_them_at_random(tmp_path):
    draw = np.random.default_rng(0)
    words, known = tuple(f"w{place}" for place in range(2000)), draw.random(2000) < 0.5
    values = np.where(known[:, None], draw.normal(0.7, 0.2, (2000, 8)), 0).astype(np.float32)
    vectors = tk.create(write_vocabulary(tmp_path / "v", words, (values, known)), entry(), None, "cpu").tk.words.weight.detach()
    assert np.array_equal(vectors[2:][known].numpy(), values[known]) and not vectors[0].any()
    drawn = vectors[2:][~known]
    assert drawn.mean().item() == pytest.approx(0.7, abs=0.01) and drawn.std().item() == pytest.approx(0.2, abs=0.01)
    assert vectors[1].any() and vectors.requires_grad is False and vectors.dtype == torch.float32


def test_without_vectors_words_are_standard_normal_and_the_seed_decides(tmp_path):
    folder = write_vocabulary(tmp_path / "v", tuple(f"w{place}" for place in range(2000)))
    one, same, other = (tk.create(folder, entry() | {"seed": seed}, None, "cpu").tk.words.weight.detach() for seed in (3, 3, 4))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert one.mean().item() == pytest.approx(0, abs=0.03) and one.std().item() == pytest.approx(1, abs=0.03) and not one[0].any()


def test_vectors_of_another_dimension_or_of_no_word_are_refused(tmp_path):
    values = np.ones((len(WORDS), 6), dtype=np.float32)
    write_vocabulary(tmp_path / "v", vectors=(values, np.ones(len(WORDS), dtype=bool)))
    with pytest.raises(InputError, match=r"vectors of 6 dimensions; settings\.dimensions is 8: set it to that"):
        tk.create(tmp_path / "v", entry(), None, "cpu")
    write_vocabulary(tmp_path / "w", vectors=(values, np.zeros(len(WORDS), dtype=bool)))
    with pytest.raises(InputError, match="no word has a pre-trained vector"):
        tk.create(tmp_path / "w", entry(dimensions=6), None, "cpu")


def test_the_card_says_how_many_layers():
    assert tk.card(entry())["title"] == "TK with 2 layers" and tk.card(entry(layers=1))["title"] == "TK with 1 layer"
    assert "load_ranker" in "\n".join(tk.card(entry())["use"])


def learned(folder, examples, validation, state, kind=State, **changes):
    ranker = tk.create(folder, entry(), None, "cpu")
    history = train(tk, ranker, examples, validation, settings(**{"patience": 9} | changes), "hinge", 7, kind(state, "key"))
    return ranker, without_seconds(history)


def test_training_learns_and_is_deterministic(folder, examples, validation, tmp_path):
    examples, changes = examples(), {"learning_rate": 0.05, "learning_rate_new_layers": 0.05}
    one, history = learned(folder, examples, validation, tmp_path / "one", **changes)
    same, again = learned(folder, examples, validation, tmp_path / "two", **changes)
    assert history == again and all(torch.equal(value, same.state_dict()[name]) for name, value in one.state_dict().items())
    assert history[-1].loss < 0.7 * history[0].loss and history[-1].accuracy > 0.9 and history[-1].validation == 1.0


def test_only_the_layer_of_logarithms_has_the_rate_of_new_layers(folder, ranker):
    optimizer = Learner.of(tk, ranker, settings(), "hinge").optimizer
    names = {id(value): name for name, value in ranker.named_parameters()}
    found = {
        (type(part).__name__, group["lr"]): [names[id(value)] for value in group["params"]]
        for part in optimizer.parts
        for group in part.param_groups
    }
    assert found.pop(("SparseAdam", 0.01)) == ["tk.words.weight"] and found.pop(("Adam", 0.02)) == ["tk.kernels.log_sums.weight"]
    assert len(found.pop(("Adam", 0.01))) == len(names) - 2 and not found


def test_words_that_no_triple_has_stay_as_they_are(folder, examples, validation, tmp_path):
    before = tk.create(folder, entry(), None, "cpu").tk.words.weight.detach()
    after = learned(folder, examples(), validation, tmp_path / "state")[0].tk.words.weight.detach()
    moved = {number for number in range(len(before)) if not torch.equal(before[number], after[number])}
    assert moved == {2 + WORDS.index(word) for word in ("pool", "price", "of", "a", "b", "c", "cost")}


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_that_is_cut_off_goes_on_to_the_same_weights(folder, examples, validation, tmp_path, precision):
    class StopError(Exception):
        pass

    class Stopped(State):
        def save(self, history, *rest):
            super().save(history, *rest)
            if len(history) == 2:
                raise StopError

    examples = examples()
    whole, expected = learned(folder, examples, validation, tmp_path / "whole", precision=precision)
    with pytest.raises(StopError):
        learned(folder, examples, validation, tmp_path / "cut", Stopped, precision=precision)
    ranker, history = learned(folder, examples, validation, tmp_path / "cut", precision=precision)
    assert history == expected and len(history) == 3
    assert all(torch.equal(value, whole.state_dict()[name]) for name, value in ranker.state_dict().items())


def test_training_that_is_killed_ends_with_the_bytes_of_one_that_was_not(folder, tmp_path):
    write_collection(tmp_path)
    kill = ("epic.rankers.tk", "pair_scores", 7, "before")  # in the middle of the second iteration
    assert call(train_in, tmp_path, "whole").returncode == 0
    assert call(train_in, tmp_path, "broken", kill).returncode == -signal.SIGKILL and not (tmp_path / "broken").exists()
    again = call(train_in, tmp_path, "broken")
    assert again.returncode == 0 and re.findall(r"going on after iteration (\d)", again.stdout) == ["1"], again.stdout
    assert (tmp_path / "broken/model.safetensors").read_bytes() == (tmp_path / "whole/model.safetensors").read_bytes()


def test_mixed_precision_gives_finite_scores_near_those_of_float32(ranker, tmp_path):
    tk.save(loud(ranker), tmp_path / "checkpoint", str)
    texts = ["price of a pool", "x y z a b c", "", "café cost pool"]
    exact, lower = (
        pairs.scores_of_texts(tk.load(tmp_path / "checkpoint", CPU | {"precision": precision}), "cost of a pool", texts)
        for precision in ("float32", "bfloat16")
    )
    assert np.isfinite(lower).all() and lower.tolist() == pytest.approx(exact.tolist(), rel=0.05, abs=0.05)
    assert not np.array_equal(lower, exact)


def test_what_a_checkpoint_says_of_itself(ranker, tmp_path):
    tk.save(ranker, tmp_path / "checkpoint", str)
    facts = json.loads((tmp_path / "checkpoint/ranker.json").read_text())
    assert facts["family"] == "tk" and facts["settings"] == SETTINGS and facts["files"] == ["vocabulary.json", "words.tsv"]
