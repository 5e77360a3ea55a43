"""Duet v2: its sizes, its parts by hand, its texts, its gradients, and what a checkpoint keeps."""

import json
import math

import jsonschema
import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import Triple
from epic.corpus.vocabulary import Word, write
from epic.experiment.families import declared
from epic.rankers import duet
from epic.training.examples import Example
from tests.words import WORDS, duet_model, duet_settings, write_vocabulary

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
PUBLISHED = {"hidden": 300, "query_words": 20, "passage_words": 200, "window": 3, "pool": 100, "dropout": 0.5, "dimensions": 300}


@pytest.fixture
def folder(tmp_path):
    return write_vocabulary(tmp_path / "words")


@pytest.fixture
def ranker(folder):
    """A small ranker whose output is alive."""
    return alive(duet.create(folder, duet_model(), [], "cpu"))


def alive(ranker):
    """Raise the output above zero, whatever is asked."""
    with torch.no_grad():
        for member in ranker.members:
            member.last.bias.fill_(2.0)
    return ranker


def scores(ranker, query, *passages):
    with torch.no_grad():
        return ranker.pairs([query] * len(passages), list(passages)).tolist()


def test_at_its_published_sizes_it_has_exactly_as_many_weights_as_the_original(tmp_path):
    write(tmp_path / "words", "letters", [Word(f"w{number}", 1, 0.5) for number in range(71_486)], 10)
    ranker = duet.Ranker(duet_settings(**PUBLISHED), tmp_path / "words")
    assert sum(value.numel() for value in ranker.parameters()) == 33_299_701
    assert ranker.members[0].embedding.weight.shape == (71_487, 300) and ranker.sizes.pools == 99
    assert all(value.requires_grad for value in ranker.parameters())


def test_matches_of_a_passage_of_3_words_and_a_query_of_4_by_hand(folder):
    sizes = {"passage_words": 3, "query_words": 4, "window": 1, "pool": 1, "hidden": 2}
    member = duet.Ranker(duet_settings(**sizes), folder).members[0].eval()
    member.local_layers = torch.nn.Identity()
    with torch.no_grad():
        member.positions.weight.copy_(torch.tensor([[[1.0], [2.0], [3.0]], [[-1.0], [0.0], [1.0]]]))
        member.positions.bias.copy_(torch.tensor([0.5, -0.2]))
        queries, passages = (torch.tensor([row]) for row in ([1, 3, 1, -1], [3, 1, 1]))  # pool of pool; of pool pool
        found = member.local(queries, passages)[0].view(2, 4)
    # idf: pool 0.9, of 0.1. Column of `pool`: (0, 0.9, 0.9), of `of`: (0.1, 0, 0), of padding: nothing
    by_hand = [[0.5 + 2 * 0.9 + 3 * 0.9, 0.5 + 0.1, 0.5 + 2 * 0.9 + 3 * 0.9, 0.5], [-0.2 + 0.9, 0.0, -0.2 + 0.9, 0.0]]
    assert found.tolist() == [pytest.approx(row, rel=1e-6) for row in by_hand]


def test_windows_of_3_words_with_4_dimensions_by_hand(folder):
    sizes = {"passage_words": 3, "query_words": 3, "window": 2, "pool": 1, "hidden": 2, "dimensions": 4}
    member = duet.Ranker(duet_settings(**sizes), folder).members[0].eval()
    with torch.no_grad():
        member.embedding.weight[0] = 7.0  # trained, and yet padding is zero
        member.embedding.weight[1] = torch.tensor([1.0, 2.0, 0.0, -1.0])
        member.embedding.weight[2] = torch.tensor([0.0, 1.0, 1.0, 3.0])
        for convolution in (member.query_windows, member.passage_windows):
            convolution.weight.zero_()
            convolution.weight[0, :, 0] = torch.tensor([1.0, 1.0, 1.0, 1.0])  # the first word's sum
            convolution.weight[1, 3, 0], convolution.weight[1, 0, 1] = 1.0, 10.0  # its last, and ten times the next one's first
            convolution.bias.copy_(torch.tensor([0.5, 0.0]))
        for layer in (member.query_layer, member.pool_layer):
            layer.weight.copy_(torch.eye(2).view(layer.weight.shape))
            layer.bias.zero_()
        words = torch.tensor([[2, 1, -1]])
        windows = [[5.0 + 0.5, 2.0 + 0.5], [3.0 + 10.0, 0.0]]  # of words 2 1, and 1 with padding: -1 + 0 is cut to 0
        assert member.pool_vectors(words)[0].tolist() == windows
        assert member.query_vectors(words)[0].tolist() == [5.5, 13.0]  # the largest of each


@pytest.mark.parametrize(("width", "size"), [(1, 1), (1, 4), (3, 3), (3, 4), (2, 11), (5, 9), (5, 10), (5, 23), (100, 198)])
def test_pools_are_those_of_torch_and_so_are_their_gradients(width, size):
    x = torch.rand(3, 2, size, dtype=torch.float64, requires_grad=True, generator=torch.Generator().manual_seed(1))
    found, expected = duet.pooled(x, width), torch.nn.functional.max_pool1d(x, width, stride=1)
    assert torch.equal(found, expected)
    factors = torch.rand(found.shape, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad((y * factors).sum(), x)[0] for y in (found, expected))
    assert torch.allclose(ours, theirs, rtol=1e-12)


def test_gradients_are_those_of_finite_differences(folder):
    torch.manual_seed(3)
    ranker = alive(duet.Ranker(duet_settings(dropout=0.0, members=2), folder).double())
    pairs = (["price of pool spa", "a unknown"], ["cost of a pool", "unknown b a x spa of price"])
    named = dict(ranker.named_parameters())
    gradients = torch.autograd.grad(ranker.pairs(*pairs).sum(), list(named.values()))
    step, compared = 1e-6, 0
    for (name, value), gradient in zip(named.items(), gradients, strict=True):
        flat = value.data.view(-1)
        for place in torch.randperm(len(flat))[:3].tolist():
            sides, before = [], flat[place].item()
            for change in (step, -step):
                flat[place] = before + change
                with torch.no_grad():
                    sides.append(ranker.pairs(*pairs).sum().item())
            flat[place] = before
            assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(gradient.view(-1)[place].item(), rel=1e-5, abs=1e-9), name
            compared += bool(gradient.view(-1)[place])
    assert compared > 30


def test_a_score_does_not_depend_on_the_pairs_beside_it(ranker, monkeypatch):
    passages = ["pool", "", "a b c x cost of price pool a b c", "price of a pool", "x " * 40, "unknown pool"]
    alone = [scores(ranker, "price of pool", passage)[0] for passage in passages]
    assert scores(ranker, "price of pool", *passages) == pytest.approx(alone, rel=1e-6) and len(set(alone)) == len(passages)
    monkeypatch.setattr(duet, "TOGETHER", 2)
    assert scores(ranker, "price of pool", *passages) == pytest.approx(alone, rel=1e-6)
    with torch.no_grad():
        queries = ["price of pool", "spa", "price of pool", "", "x", "spa"]
        mixed = ranker.pairs(queries, passages).tolist()
    assert mixed == pytest.approx([scores(ranker, *pair)[0] for pair in zip(queries, passages, strict=True)], rel=1e-6)


def test_padding_is_masked_even_when_the_row_that_unknown_words_share_has_been_trained(ranker):
    before = scores(ranker, "pool", "price pool", "price unknown pool", "")
    with torch.no_grad():
        ranker.members[0].embedding.weight[0] += 3.0
    after = scores(ranker, "pool", "price pool", "price unknown pool", "")
    assert after[0] == before[0] and after[2] == before[2] and after[1] != before[1]


def test_texts_are_numbered_words_of_the_vocabulary_then_those_with_only_an_idf(ranker):
    assert ranker.query("Price, of the POOL & spa!") == [2, 3, 0, 1, 10]
    assert ranker.query("one two three four five six seven") == [0] * 5 and ranker.query("") == []
    assert ranker.passage("pool-price café naïve İ") == [1, 2, 0, 0, 0, 0]  # caf, na, ve, i
    assert ranker.passage("a b c x of " * 50) == [4, 6, 7, 8, 3, 4, 6, 7, 8] and ranker.passage("a b c", 2) == [4, 6]
    assert ranker.passage("a b c", 0) == [] and ranker.passage("日本語 …") == []


def test_only_words_with_an_idf_match_repeated_ones_each_time(ranker):
    member = ranker.members[0]
    member.local_layers, member.positions = torch.nn.Identity(), torch.nn.Conv1d(9, 1, 1)
    with torch.no_grad():
        member.positions.weight.fill_(1.0)
        member.positions.bias.zero_()

        def matches(query, passage):
            batch = duet.Batch.of([ranker.query(query)], [ranker.passage(passage)], ranker.sizes, "cpu")
            return pytest.approx(member.local(batch.queries[batch.asked], batch.passages)[0].tolist(), rel=1e-6)

        assert matches("pool a spa else pool", "else pool a a spa") == [0.9, 0, 0.85, 0, 0.9]  # a has no idf, else none known
        assert matches("swim swim", "swim swim spa swim") == [3 * 0.95, 3 * 0.95, 0, 0, 0]
        assert matches("pool", "") == [0] * 5 and matches("", "pool") == [0] * 5


def test_texts_without_words_have_a_score_and_it_is_the_same_each_time(ranker):
    (found,) = set(scores(ranker, "", "", "...", "日本語"))
    assert np.isfinite(found)
    assert scores(ranker, "pool", "") == scores(ranker, "pool", "!!")


def test_dropout_is_for_training_alone(ranker):
    assert scores(ranker, "pool", "price pool") == scores(ranker, "pool", "price pool")
    ranker.train()
    assert scores(ranker, "pool", "price pool") != scores(ranker, "pool", "price pool")
    assert sum(isinstance(module, torch.nn.Dropout) for module in ranker.modules()) == 8


def test_the_score_of_a_ranker_is_the_sum_of_its_members(folder):
    ranker = alive(duet.create(folder, duet_model(members=3), [], "cpu"))
    one_by_one = [scores(member, "price pool", "a pool", "b")[0] for member in ranker.members]
    assert len(set(one_by_one)) == 3 and scores(ranker, "price pool", "a pool")[0] == pytest.approx(sum(one_by_one), rel=1e-6)


def test_the_seed_decides_where_it_starts_and_row_0_starts_at_zero(folder):
    one, same, other = (duet.create(folder, duet_model() | {"seed": seed}, [], "cpu").state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)
    rows = one["members.0.embedding.weight"]
    assert not rows[0].any() and rows.shape == (len(WORDS) + 1, 4) and rows[1:].std() > 0.1


def test_it_starts_from_pre_trained_vectors_and_from_zeros_where_a_word_has_none(tmp_path):
    vectors = np.arange(32, dtype=np.float32).reshape(8, 4)
    known = np.arange(8) != 2
    vectors[2] = 0
    folder = write_vocabulary(tmp_path / "words", vectors=(vectors, known))
    rows = duet.Ranker(duet_settings(), folder).members[0].embedding.weight
    assert rows[1:].tolist() == vectors.tolist() and not rows[0].any() and rows.requires_grad
    with pytest.raises(InputError, match=r"words: the vectors have 4 dimensions, settings\.dimensions is 5"):
        duet.Ranker(duet_settings(dimensions=5), folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"passage_words": 6}, "a passage of 6 words has no pool of 5 windows of 3 words; raise passage_words to 7 or more"),
        ({"query_words": 2}, "a query of 2 words has no window of 3; raise query_words"),
        ({"window": 6}, "a query of 5 words has no window of 6"),
    ],
)
def test_sizes_that_do_not_fit_together_are_refused(folder, changes, said):
    with pytest.raises(InputError, match=said):
        duet.create(folder, duet_model(**changes), [], "cpu")
    assert duet.create(folder, duet_model(passage_words=7), [], "cpu").sizes.pools == 1


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"passage_words": 7},  # one pool
        {"passage_words": 3, "pool": 1},  # of one window, the whole passage
        {"passage_words": 1, "query_words": 1, "window": 1, "pool": 1},
        {"window": 5, "pool": 1, "passage_words": 5},  # a window as wide as query and passage
    ],
)
def test_a_passage_of_no_word_and_one_of_all_its_words_have_a_score_whatever_the_windows(folder, changes):
    ranker = alive(duet.create(folder, duet_model(**changes), [], "cpu")).eval()
    texts = ["", "pool", " ".join(["pool price"] * 20), "unheard of", ""]
    for query in ("", "pool", " ".join(["pool"] * 20)):
        found = scores(ranker, query, *texts)
        assert len(found) == 5 and all(map(math.isfinite, found)) and found[0] == found[4] == scores(ranker, query, "")[0]


def test_a_vocabulary_without_any_idf_is_refused(tmp_path):
    folder = write_vocabulary(tmp_path / "words", idf=[None] * 8, beyond={})
    with pytest.raises(InputError, match=r"words: no word has an idf"):
        duet.Ranker(duet_settings(), folder)


def test_a_checkpoint_comes_back_as_it_was_and_needs_no_vocabulary_beside_it(folder, tmp_path):
    ranker = alive(duet.create(folder, duet_model(members=2), [], "cpu"))
    expected = scores(ranker, "price of spa", "spa of a pool", "")
    duet.save(ranker, tmp_path / "checkpoint", str)
    names = {path.name for path in (tmp_path / "checkpoint").iterdir()}
    assert names == {"README.md", "model.safetensors", "ranker.json", "vocabulary.json", "words.tsv"}
    for name in ("vocabulary.json", "words.tsv"):
        assert (tmp_path / "checkpoint" / name).read_bytes() == (folder / name).read_bytes()
        (folder / name).unlink()
    again = duet.load(tmp_path / "checkpoint", CPU)
    assert scores(again, "price of spa", "spa of a pool", "") == expected and not again.training
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in ranker.state_dict().items())
    duet.save(again, tmp_path / "other", str)
    assert (tmp_path / "other" / "model.safetensors").read_bytes() == (tmp_path / "checkpoint" / "model.safetensors").read_bytes()


def test_a_checkpoint_of_another_number_of_members_is_refused(ranker, tmp_path):
    duet.save(ranker, tmp_path / "checkpoint", str)
    facts = json.loads((tmp_path / "checkpoint" / "ranker.json").read_text())
    facts["settings"]["members"] = 2
    (tmp_path / "checkpoint" / "ranker.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="not the weights of this model, or damaged"):
        duet.load(tmp_path / "checkpoint", CPU)


def test_pair_scores_are_those_of_the_pairs_and_passages_are_cut(ranker):
    examples = [
        Example(Triple("q", "0", "1"), "price pool", "a b pool price", "b"),
        Example(Triple("r", "1", "0"), "spa", "spa", ""),
    ]
    found = duet.pair_scores(ranker, examples, None)
    expected = [scores(ranker, example.query, example.relevant, example.other) for example in examples]
    assert found.requires_grad and found.tolist() == [pytest.approx(row, rel=1e-6) for row in expected]
    cut = duet.pair_scores(ranker, examples, 2).tolist()
    assert cut[0] == pytest.approx(scores(ranker, "price pool", "a b", "b"), rel=1e-6)


def test_a_run_is_scored_as_its_pairs_are(ranker, collection_of):
    texts = ["price of pool", "", "spa", "x x x"]
    run = {"q": [ScoredDoc(place, 1.0) for place in "3021"], "r": [ScoredDoc("2", 1.0)], "none": []}
    found = duet.score(ranker, run, {"q": "pool spa", "r": "", "none": "x"}, collection_of(*texts), 1000)
    assert [hit.doc_id for hit in found["q"]] == list("3021") and found["none"] == []
    expected = scores(ranker, "pool spa", *(texts[int(place)] for place in "3021"))
    assert [hit.score for hit in found["q"]] == pytest.approx(expected, rel=1e-6)


def test_mixed_precision_changes_scores_little_and_keeps_them_in_single_precision(folder, tmp_path):
    ranker = alive(duet.create(folder, duet_model(members=2, hidden=32, dimensions=16), [], "cpu"))
    expected = scores(ranker, "price of spa", "spa of a pool", "a price", "")
    with torch.autocast("cpu", torch.bfloat16):
        found = ranker.pairs(["price of spa"] * 3, ["spa of a pool", "a price", ""])
        found.sum().backward()
    assert found.dtype == torch.float32 and found.tolist() == pytest.approx(expected, rel=0.02)
    assert found.tolist() != expected and found.bfloat16().tolist() != found.tolist()  # finer than 8 bits
    assert all(torch.isfinite(value.grad).all() for value in ranker.parameters())


def test_the_schema_of_its_settings_refuses_what_it_does_not_know():
    family = declared("duet")
    assert family.words and not family.precomputes
    check = jsonschema.Draft202012Validator(family.settings)
    model = duet_model() | {"encoder": None}
    assert check.is_valid(model) and check.is_valid(duet_model(**PUBLISHED, members=8) | {"encoder": None})
    for wrong in ({"encoder": {"source": "x"}}, {"start": {"source": "x"}}):
        assert not check.is_valid(model | wrong)
    for changes in ({"members": 0}, {"dropout": 1}, {"layers": 2}, {"hidden": 0}, {"words": {}}):
        assert not check.is_valid(duet_model(**changes) | {"encoder": None})


def test_its_card_says_what_it_is():
    assert duet.card(duet_model())["title"] == "Duet v2"
