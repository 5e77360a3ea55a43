"""Families that score pairs of texts: all but the score itself, with the smallest family there is."""

import json
from types import SimpleNamespace

import pytest
import torch

from epic.core.files import InputError, sha256_of
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import Triple
from epic.latency.latency import Bench
from epic.rankers import pairs
from epic.training.examples import Example
from tests import fake_ranker

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
MODEL = {"id": "overlap", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 3}


def by_hand(query, passage):
    """2 * (0.1 * shared words, as a part of one more than the query has, + 0.1 * the passage's words by the hundred)."""
    words, text = set(query.split()), passage.split()
    return 2 * (0.1 * len(words & set(text)) / (1 + len(words)) + 0.1 * len(text) / 100)


def of(*doc_ids):
    return [ScoredDoc(doc_id, 0.0) for doc_id in doc_ids]


@pytest.fixture
def ranker():
    return pairs.create([], MODEL, [], "cpu")


@pytest.fixture
def passages(collection_of):
    return collection_of("price of pool", "", "café pool pool", "a b c d")


def test_a_ranker_before_training_knows_where_it_comes_from(ranker):
    assert ranker.facts == {"family": "tests.fake_ranker", "settings": {"scale": 2.0}} and ranker.folder is None
    assert ranker.scale == 2.0 and not ranker.training


def test_the_seed_of_the_model_decides_what_starts_at_random(monkeypatch):
    class Random(fake_ranker.Ranker):
        def __init__(self, *given):
            super().__init__(*given)
            self.weight = torch.nn.Parameter(torch.randn(2))

    monkeypatch.setattr(fake_ranker, "Ranker", Random)
    one, same, other = (pairs.create(None, MODEL | {"seed": seed}, None, "cpu").weight.tolist() for seed in (3, 3, 4))
    assert one == same != other


def test_pair_scores_by_hand_and_passages_are_cut_after_words(ranker):
    examples = [
        Example(Triple("q", "0", "1"), "cost of pool", "price of pool", ""),
        Example(Triple("r", "2", "3"), "café", "café  au lait", "a b\tc d"),
    ]
    found = pairs.pair_scores(ranker, examples, None)
    assert found.shape == (2, 2) and found.requires_grad
    expected = [[by_hand(example.query, text) for text in example[2:]] for example in examples]
    assert found.tolist() == [pytest.approx(row, rel=1e-6) for row in expected]
    assert expected[0] == [pytest.approx(2 * (0.1 * 2 / 4 + 0.1 * 0.03)), 0.0]
    cut = pairs.pair_scores(ranker, examples, 2).tolist()
    assert cut == [
        pytest.approx([by_hand("cost of pool", "price of"), 0.0]),
        pytest.approx([by_hand("café", "café au"), by_hand("café", "a b")]),
    ]


TEXTS = {"0": "price of pool", "1": "", "2": "café pool pool", "3": "a b c d"}
MANY = {"r": of("3", "0", "1"), "none": [], "q": of("2", "3", "2")}  # 2 twice, as a run of one's own may have it
ASKED = {"q": "pool café", "r": "a of", "none": "x", "more": "y"}


@pytest.mark.parametrize("budget", [0, 8, 10_000])
@pytest.mark.parametrize("passages_at_a_time", [1, 3, 100])
def test_a_run_is_scored_in_its_own_order_however_many_pairs_go_at_once(
    ranker, passages, monkeypatch, budget, passages_at_a_time
):
    monkeypatch.setattr(pairs, "PASSAGES_AT_A_TIME", passages_at_a_time)
    found = pairs.score(ranker, MANY, ASKED, passages, budget)
    assert list(found) == ["r", "none", "q"] and found["none"] == []
    for query_id, hits in found.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in MANY[query_id]]
        assert [hit.score for hit in hits] == pytest.approx([by_hand(ASKED[query_id], TEXTS[hit.doc_id]) for hit in hits])


class Numbering(pairs.PairRanker):
    """A ranker that counts words, and remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.weight, self.numbered, self.asked = torch.nn.Parameter(torch.tensor(1.0)), [], []

    def query(self, text):
        self.numbered.append(text)
        return [len(word) for word in text.split()]

    def passage(self, text, limit=None):
        self.numbered.append(text)
        return [len(word) for word in text.split()][:limit]

    def scores(self, queries, passages):
        self.asked.append([len(query) + len(passage) for query, passage in zip(queries, passages, strict=True)])
        values = [100 * sum(query) + sum(passage) for query, passage in zip(queries, passages, strict=True)]
        return self.weight * torch.tensor(values, dtype=torch.float32)  # (n,)


def test_texts_are_numbered_once_and_candidates_of_all_queries_go_together_longest_first(passages):
    ranker = Numbering()
    found = pairs.score(ranker, MANY, ASKED, passages, budget=12)
    assert sorted(ranker.numbered) == sorted([*TEXTS.values(), "pool café", "a of", "x"])
    assert ranker.asked == [[6, 6], [5, 5], [5, 2]]  # words of both texts, at most 12 a batch
    letters = {doc_id: len(text.replace(" ", "")) for doc_id, text in TEXTS.items()}
    assert {query_id: [hit.score for hit in hits] for query_id, hits in found.items()} == {
        "r": [300 + letters[doc_id] for doc_id in "301"], "none": [], "q": [800 + letters[doc_id] for doc_id in "232"],
    }  # fmt: skip


def test_a_pair_beyond_the_budget_goes_alone_and_no_run_is_no_work(passages):
    ranker = Numbering()
    pairs.score(ranker, {"q": of("0", "1", "3")}, ASKED, passages, budget=5)
    assert ranker.asked == [[6], [5], [2]]
    assert pairs.score(ranker, {}, ASKED, passages, 5) == {} and len(ranker.asked) == 3


def test_numbered_examples_are_cut_in_the_ranker_s_own_words_and_texts_score_as_numbers_do(passages):
    ranker = Numbering()
    examples = [Example(Triple("q", "0", "1"), "a bc", "def ghij k", "")]
    assert pairs.pair_scores(ranker, examples, None).tolist() == [[308, 300]]
    assert pairs.pair_scores(ranker, examples, 2).tolist() == [[307, 300]]
    assert ranker.numbered == ["a bc", "def ghij k", ""] * 2 and ranker.asked[0] == [5, 2]
    assert ranker.pairs(["a bc", "x"], ["y", "z yy"]).tolist() == [301, 103]
    assert pairs.scores_of_texts(ranker, "a bc", ["y", "z yy"]).tolist() == [301, 303]


def test_a_ranker_that_lacks_a_method_is_not_made():
    class Half(pairs.PairRanker):
        def query(self, text):
            return [1]

    with pytest.raises(TypeError, match="abstract methods '?passage'?, '?scores'?"):
        Half()


def test_a_checkpoint_keeps_the_files_that_the_ranker_names(tmp_path, monkeypatch):
    class Worded(fake_ranker.Ranker):
        FILES = ("words.tsv",)

    monkeypatch.setattr(fake_ranker, "Ranker", Worded)
    (tmp_path / "vocabulary").mkdir()
    for name in ("words.tsv", "vectors.safetensors"):
        (tmp_path / "vocabulary" / name).write_text("of the vocabulary")
    ranker = pairs.create(tmp_path / "vocabulary", MODEL, [], "cpu")
    pairs.save(ranker, tmp_path / "one", str)
    assert pairs.is_checkpoint(tmp_path / "one") and not pairs.is_checkpoint(tmp_path / "vocabulary")
    assert not pairs.is_checkpoint(None)
    names = ["README.md", "model.safetensors", "ranker.json", "words.tsv"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    assert pairs.load(tmp_path / "one", CPU).folder == tmp_path / "one"


def test_a_checkpoint_comes_back_as_it_was(ranker, tmp_path):
    with torch.no_grad():
        ranker.weight.copy_(torch.tensor([0.3, -0.7]))
    pairs.save(ranker, tmp_path / "checkpoint", lambda digest: f"the card of {digest}")
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == ["README.md", "model.safetensors", "ranker.json"]
    digest = sha256_of(tmp_path / "checkpoint" / "model.safetensors")
    assert (tmp_path / "checkpoint" / "README.md").read_text() == f"the card of {digest}"
    again = pairs.load(tmp_path / "checkpoint", CPU)
    assert again.weight.tolist() == ranker.weight.tolist() and (again.facts, again.folder) == (ranker.facts, None)
    assert again.scale == 2.0 and not again.training


def test_the_encoder_s_config_and_tokenizer_go_with_the_weights(tiny_encoder, tmp_path):
    ranker = pairs.create(tiny_encoder, MODEL, [], "cpu")
    pairs.save(ranker, tmp_path / "one", str)
    again = pairs.load(tmp_path / "one", CPU)
    facts = json.loads((tmp_path / "one" / "ranker.json").read_text())
    assert again.folder == tmp_path / "one" and facts["files"] == ["config.json", "tokenizer.json"]
    pairs.save(again, tmp_path / "two", str)  # from its own folder, the first encoder may be gone
    for name in ("config.json", "tokenizer.json"):
        assert (tmp_path / "two" / name).read_bytes() == (tiny_encoder / name).read_bytes()


def test_a_folder_of_something_else_is_neither_replaced_nor_loaded(ranker, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="mine exists and is no checkpoint; name a new folder"):
        pairs.save(ranker, tmp_path / "mine", str)
    with pytest.raises(InputError, match=r"mine: not a checkpoint of this kind \(no ranker\.json\)"):
        pairs.load(tmp_path / "mine", CPU)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    (tmp_path / "empty").mkdir()
    for _ in range(2):  # an empty folder, or a checkpoint, may be
        pairs.save(ranker, tmp_path / "empty", str)


def test_weights_of_another_ranker_are_refused(ranker, tmp_path):
    pairs.save(ranker, tmp_path / "checkpoint", str)
    (tmp_path / "checkpoint" / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(InputError, match="not the weights of this model, or damaged"):
        pairs.load(tmp_path / "checkpoint", CPU)


@pytest.fixture
def files(ranker, passages, tmp_path):
    """The files of an experiment that has such a model."""
    pairs.save(ranker, tmp_path / "checkpoint", str)
    (tmp_path / "q.tsv").write_text("q\tpool café\n", encoding="utf-8")
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": passages.dataset, "count": 4}))
    return SimpleNamespace(checkpoint=tmp_path / "checkpoint", queries=tmp_path / "q.tsv", manifest=tmp_path / "manifest.json")


def test_an_experiment_s_files_give_the_same_scores(ranker, passages, files):
    run = {"q": of("3", "2", "0")}
    assert pairs.score_run(run, files, CPU, 0) == pairs.score(ranker, run, {"q": "pool café"}, passages, 0)


@pytest.mark.parametrize("hits", [["2", "0"], []])
def test_a_query_is_timed_by_stage_and_the_stages_fill_the_whole(files, hits):
    asked = []
    timed = pairs.timed(lambda text: asked.append(text) or hits, files, {}, {}, {"compute": CPU}, Bench(files.checkpoint))
    with timed.opened() as time_one:
        found = time_one("pool café")
    assert asked == ["pool café"] and list(found) == ["retrieve", "load", "score", "total"]
    assert timed.on_disk == [timed.documents.folder]
    assert all(value >= 0 for value in found.values()) and timed.budget == pairs.AT_QUERY_TIME
    system = {"compute": CPU, "encode": {"token_budget": 77}}
    assert pairs.timed(list, files, {}, {}, system, Bench(files.checkpoint)).budget == 77  # as an experiment says
    assert found["retrieve"] + found["load"] + found["score"] == found["total"]


@pytest.mark.parametrize(("precision", "mixed"), [("float32", False), ("bfloat16", True)])
def test_pairs_are_scored_in_the_precision_that_the_experiment_asks_for(ranker, passages, tmp_path, precision, mixed):
    pairs.save(ranker, tmp_path / "checkpoint", str)
    loaded = pairs.load(tmp_path / "checkpoint", CPU | {"precision": precision})
    loaded.pairs = lambda queries, texts: torch.full((len(texts),), float(torch.is_autocast_enabled("cpu")))
    assert [hit.score for hit in pairs.score(loaded, {"q": of("0", "1")}, {"q": "x"}, passages, 0)["q"]] == [float(mixed)] * 2


def test_the_card_is_named_after_the_family():
    assert pairs.card(MODEL)["title"] == "tests.fake_ranker" and "load_ranker" in pairs.card(MODEL)["use"][0]


def test_pairs_that_do_not_fit_into_memory_are_scored_fewer_at_a_time(ranker, passages, monkeypatch, caplog):
    run, queries, asked = {"q": of("3", "1", "2", "0"), "r": of("1", "0")}, {"q": "café pool", "r": "pool"}, []
    expected = pairs.score(ranker, run, queries, passages, 100)

    def small(texts, some, real=ranker.pairs):
        asked.append(len(some))
        if len(some) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(texts, some)

    monkeypatch.setattr(ranker, "pairs", small)
    assert pairs.score(ranker, run, queries, passages, 100) == expected
    assert asked == [6, 2, 1, 1, 1, 1, 2, 1, 1] and "memory ran out with 6 pairs at a time; going on with 11 words" in caplog.text
    assert pairs.score(ranker, run, queries, passages, 100) == expected and asked[9:] == [1] * 6  # from now on


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), torch.OutOfMemoryError("CUDA out of memory")])
def test_one_pair_that_does_not_fit_and_any_other_error_are_failures(ranker, passages, monkeypatch, error):
    def broken(*_):
        raise error

    monkeypatch.setattr(ranker, "pairs", broken)
    with pytest.raises(RuntimeError, match=str(error)):
        pairs.score(ranker, {"q": of("3", "1")}, {"q": "pool"}, passages, 0)  # each goes alone
