"""The embedded collection keeps its promises: ids, splits, lengths, judgments, and the hard cases."""

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

TINY = Path(__file__).resolve().parents[2] / "workflow" / "resources" / "tiny"
SPLITS = {"train": 90, "validation": 25, "test": 45}
LONG, ONE_WORD, WITHOUT_MATCH = "330", "335", "3057"


def table(name, fields):
    rows = [line.split("\t") for line in (TINY / name).read_text(encoding="utf-8").splitlines()]
    assert all(len(row) == fields for row in rows), name
    return rows


def words(text):
    return re.findall(r"\w+", text.lower())


@pytest.fixture(scope="module")
def docs():
    return dict(table("docs.tsv", 2))


@pytest.fixture(scope="module")
def topics():
    return dict(table("topics.tsv", 2))


@pytest.fixture(scope="module")
def queries():
    return {split: dict(table(f"queries.{split}.tsv", 2)) for split in SPLITS}


@pytest.fixture(scope="module")
def relevant():
    judged = defaultdict(list)
    for split in SPLITS:
        for line in (TINY / f"qrels.{split}.txt").read_text().splitlines():
            query_id, _, doc_id, relevance = line.split()
            assert relevance == "1"
            judged[query_id].append(doc_id)
    return judged


@pytest.fixture(scope="module")
def predicted():
    """Predicted queries by passage position."""
    by_sample = defaultdict(list)
    for path in sorted((TINY / "predicted").iterdir()):
        sample, _chunk = re.fullmatch(r"predicted_queries_topk_sample(\d{3})\.txt(\d{3})-1004000", path.name).groups()
        by_sample[sample] += path.read_text(encoding="utf-8").splitlines()
    return list(zip(*by_sample.values(), strict=True))


@pytest.mark.parametrize(("name", "without"), [("stand-in", set()), ("doctttttquery", {WITHOUT_MATCH})])
def test_runs_rank_passages_of_the_collection_for_the_test_queries(name, without, docs, queries):
    ranked = defaultdict(list)
    for query_id, doc_id, rank in table(f"runs/{name}.tsv", 3):
        ranked[query_id].append(doc_id)
        assert int(rank) == len(ranked[query_id]) <= 20
    assert set(ranked) == set(queries["test"]) - without
    assert all(len(set(found)) == len(found) and set(found) <= set(docs) for found in ranked.values())


def test_ids_are_line_numbers_and_unique_over_all_splits(docs, topics, queries):
    assert list(docs) == [str(position) for position in range(len(docs))] == list(topics)
    ids = [query_id for split in queries.values() for query_id in split]
    assert len(ids) == len(set(ids))


def test_at_least_300_passages_have_30_to_90_words_and_the_two_exceptions_are_known(docs):
    lengths = {doc_id: len(text.split()) for doc_id, text in docs.items()}
    exceptions = {doc_id: length for doc_id, length in lengths.items() if not 30 <= length <= 90}
    assert set(exceptions) == {LONG, ONE_WORD}
    assert exceptions[LONG] > 600 and exceptions[ONE_WORD] == 1
    assert len(docs) - len(exceptions) >= 300


def test_at_least_60_topics_have_several_passages(topics):
    assert sum(count >= 3 for count in Counter(topics.values()).values()) >= 60


def test_splits_are_large_enough_and_share_neither_query_nor_topic(queries, relevant, topics):
    texts = [text for split in queries.values() for text in split.values()]
    assert len(texts) == len(set(texts)) >= 160
    topics_of = {}
    for split, minimum in SPLITS.items():
        assert len(queries[split]) >= minimum
        topics_of[split] = {topics[doc_id] for query_id in queries[split] for doc_id in relevant[query_id]}
    assert not topics_of["train"] & topics_of["test"]
    assert not topics_of["train"] & topics_of["validation"]
    assert not topics_of["validation"] & topics_of["test"]


def test_each_query_has_one_or_two_relevant_passages_that_exist(docs, queries, relevant):
    assert set(relevant) == {query_id for split in queries.values() for query_id in split}
    for doc_ids in relevant.values():
        assert 1 <= len(doc_ids) == len(set(doc_ids)) <= 2
        assert all(doc_id in docs for doc_id in doc_ids)


def test_each_topic_has_passages_that_answer_different_questions(topics, relevant):
    answered = defaultdict(set)
    for doc_ids in relevant.values():
        for doc_id in doc_ids:
            answered[topics[doc_id]].add(doc_id)
    assert all(len(doc_ids) >= 2 for doc_ids in answered.values())


def test_a_third_of_the_test_queries_uses_other_words_than_the_passage(docs, queries, relevant):
    everything = {query_id: text for split in queries.values() for query_id, text in split.items()}
    paraphrased = set()
    for query_id, asked, written in table("paraphrases.tsv", 3):
        passages = [set(words(docs[doc_id])) for doc_id in relevant[query_id]]
        inflected = {asked + ending for ending in ("", "s", "es", "d", "ed", "ing")}
        assert asked in words(everything[query_id]), (query_id, asked)
        assert not any(inflected & passage for passage in passages), (query_id, asked)
        assert any(written in passage for passage in passages), (query_id, written)
        paraphrased.add(query_id)
    assert 3 * len(paraphrased & set(queries["test"])) >= len(queries["test"])


def test_no_two_passages_share_eight_consecutive_words(docs):
    owner = {}
    for doc_id, text in docs.items():
        tokens = words(text)
        for start in range(len(tokens) - 7):
            gram = tuple(tokens[start : start + 8])
            assert owner.setdefault(gram, doc_id) == doc_id, (doc_id, owner[gram], gram)


def test_every_passage_has_at_least_three_predicted_queries_and_none_is_a_real_query(docs, queries, predicted):
    assert len(predicted) == len(docs)
    real = {text for split in queries.values() for text in split.values()}
    for samples in predicted:
        assert len(samples) >= 3 and all(sample.strip() for sample in samples)
        assert not real & set(samples)


def test_some_passages_are_not_ascii(docs):
    assert sum(not text.isascii() for text in docs.values()) >= 20


def test_a_passage_is_relevant_to_two_queries(relevant):
    assert max(Counter(doc_id for doc_ids in relevant.values() for doc_id in doc_ids).values()) >= 2


def test_one_test_query_shares_no_word_with_the_collection_or_its_predicted_queries(docs, queries, predicted):
    stems = {word[:5] for text in docs.values() for word in words(text)}
    stems |= {word[:5] for samples in predicted for sample in samples for word in words(sample)}
    assert not stems & {word[:5] for word in words(queries["test"][WITHOUT_MATCH])}
