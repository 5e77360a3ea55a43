"""Term recall, by hand and by Lucene's stemmer."""

from types import SimpleNamespace

import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import counts_of, write_counts
from epic.corpus.text_files import read_qrels, read_queries
from epic.first_stage.anserini import stems
from epic.first_stage.deepct_labels import Labels, read_labels
from epic.first_stage.recall import Stems, relevant_queries, stop_words, term_recall, words_of, write_recall
from tests.conftest import ROOT

STOP = frozenset({"the", "of", "what", "is"})
OWN_LIST = ROOT / "workflow" / "resources" / "deepct" / "stop-words.txt"


def without_s(words):
    """Stems by hand: without the last s."""
    return [word.removesuffix("s") for word in words]


@pytest.mark.parametrize(
    ("passage", "queries", "expected"),
    [
        ("The cost of pools", ["what is the pool cost"], {"cost": 1.0, "pools": 1.0}),  # one query: 0 or 1
        ("pool pools price", ["pools", "price of pools", "car"], {"pool": 2 / 3, "pools": 2 / 3, "price": 1 / 3}),
        ("a pool", ["pool pools pool", "x"], {"pool": 0.5}),  # a query counts once
        ("what is the", ["what is the"], {}),  # stop words
        ("Pool's POOL", ["pool"], {"pool": 1.0}),  # 's goes, letters are lower-cased
        ("well-known", ["known well"], {"known": 1.0, "well": 1.0}),
        ("café 東京 401k", ["caf 401K"], {"401k": 1.0, "caf": 1.0}),  # as DeepCT has it: only ASCII letters and digits
        ("pool", ["the of", "pool"], {"pool": 0.5}),  # a query of stop words counts, too
        ("", ["pool"], {}),
        ("pool", [""], {}),
    ],
)
def test_recall_is_the_share_of_the_queries_that_contain_a_word(passage, queries, expected):
    assert term_recall(passage, queries, STOP, without_s) == expected


def test_words_are_split_as_in_deepct():
    assert words_of("The U.S.'s pool--it's 9.5% of 's", frozenset({"the"})) == ["u", "s", "pool", "it", "9", "5", "of"]


def test_stems_are_porter_s_and_long_words_their_own():
    assert stems(["running", "cats", "relational", "b2b", "401k", "happily"]) == ["run", "cat", "relat", "b2b", "401k", "happili"]
    assert stems(["cats", "x" * 300, "dogs"]) == ["cat", "x" * 300, "dog"]
    assert stems([]) == [] and stems(["cats"] * 2500) == ["cat"] * 2500


def test_a_stem_is_asked_for_once():
    asked = []
    found = Stems(lambda words: asked.append(words) or without_s(words))
    assert found(["cats", "dogs", "cats"]) == ["cat", "dog", "cat"] and found(["dogs", "a"]) == ["dog", "a"]
    assert asked == [["cats", "dogs"], ["a"]]


def test_only_grades_from_the_lowest_on_are_relevant():
    qrels = {"q": {"1": 2, "2": 1}, "r": {"1": 3, "3": 0}}
    assert relevant_queries(qrels, {"q": "x", "r": "y"}, 2) == {"1": ["x", "y"]}
    assert relevant_queries(qrels, {"q": "x", "r": "y"}, 1) == {"1": ["x", "y"], "2": ["x"]}


def files_of(folder, queries, qrels, stop=OWN_LIST):
    (folder / "q.tsv").write_text(queries)
    (folder / "qrels.txt").write_text(qrels)
    write_counts(folder / "c.json", counts_of(read_queries(folder / "q.tsv"), read_qrels(folder / "qrels.txt")))
    return SimpleNamespace(queries=folder / "q.tsv", qrels=folder / "qrels.txt", counts=folder / "c.json", stop_words=stop)


def test_labels_are_written_in_the_order_of_the_collection(collection_of, tmp_path, monkeypatch):
    monkeypatch.setattr("epic.first_stage.recall.PASSAGES_AT_A_TIME", 1)
    documents = collection_of("Running a pool.", "", "How pools run", "x")
    files = files_of(tmp_path, "q\thow to run pools\nr\tpool\n", "q 0 2 1\nr 0 2 1\nq 0 0 1\nq 0 1 1\nr 0 3 0\n")
    write_recall(files, 1, documents, tmp_path / "labels.jsonl")
    assert read_labels(tmp_path / "labels.jsonl") == [
        Labels("0", 1, {"pool": 1.0, "running": 1.0}),
        Labels("1", 1, {}),
        Labels("2", 2, {"pools": 1.0, "run": 0.5}),
    ]
    write_recall(files_of(tmp_path, "q\thow\n", "q 0 2 1\n", stop=[]), 1, documents, tmp_path / "labels.jsonl")
    assert read_labels(tmp_path / "labels.jsonl") == [Labels("2", 1, {"how": 1.0})]  # without a list no word is a stop word


def test_a_set_without_relevant_passages_is_refused(documents, tmp_path):
    with pytest.raises(InputError, match="qrels.txt: no passage is judged relevant .grade 2 or more.*nothing can be learnt"):
        write_recall(files_of(tmp_path, "q\tx\n", "q 0 1 1\n"), 2, documents, tmp_path / "labels.jsonl")
    assert not (tmp_path / "labels.jsonl").exists()


def test_our_list_of_stop_words_is_deepct_s():
    found = stop_words(OWN_LIST)
    assert len(found) == 418 and {"what", "how", "does", "the", "year"} <= found and "cost" not in found


def test_a_file_that_is_no_list_of_words_is_refused(tmp_path):
    (tmp_path / "stop.txt").write_text("a\nof the\n")
    with pytest.raises(InputError, match="stop.txt line 2: expected one word a line, found 'of the'"):
        stop_words(tmp_path / "stop.txt")
