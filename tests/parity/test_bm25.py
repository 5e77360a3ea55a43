"""Anserini through our wrappers: scores by hand, counts, ties, and the three ways to search."""

import json
import math
import shutil

import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import Counts, write_counts
from epic.corpus.runs import read_answers, read_run
from epic.first_stage import anserini as java
from epic.first_stage.expand import expand
from epic.first_stage.index import document_count, index
from epic.first_stage.lucene_files import refuse_damage
from epic.first_stage.retrieve import retrieve

pytestmark = pytest.mark.parity
DOCS = {"0": "pool price pool", "1": "the price of a café in Paris", "2": "swim spa", "3": "", "10": "swim spa", "9": "swim spa"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lucene")
    (folder / "docs").mkdir()
    lines = [json.dumps({"id": doc_id, "contents": text}, ensure_ascii=False) for doc_id, text in DOCS.items()]
    (folder / "docs" / "docs-000.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "docs" / "count").write_text(json.dumps({"documents": 6, "with_text": 5}))
    index(folder / "docs", threads=2, memory_mb=512, out=folder / "index")
    return folder


QUERIES = {"pools": "pools prices", "swim": "swim", "none": "zebra", "stop": "the of", "café": "CAFÉ"}


@pytest.fixture(scope="module")
def runs(built):
    """Runs of all queries, by the number of hits asked for."""
    (built / "q.tsv").write_text("".join(f"{query_id}\t{text}\n" for query_id, text in QUERIES.items()), encoding="utf-8")
    write_counts(built / "q.json", Counts(len(QUERIES), 1, 1, ""))
    for hits in (10, 2):
        outs = built / f"{hits}.run", built / f"{hits}.json"
        retrieve(built / "index", built / "q.tsv", built / "q.json", 0.9, 0.4, hits, 2, 512, *outs)
    return {hits: read_run(built / f"{hits}.run") for hits in (10, 2)}


def bm25(tf, df, length, n=5, average=(3 + 3 + 2 + 2 + 2) / 5, k1=0.9, b=0.4):
    """Lucene's BM25: idf = ln(1 + (n - df + 0.5) / (df + 0.5)), without the constant (k1 + 1)."""
    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / average))


def test_scores_equal_a_hand_calculation(runs):
    found = runs[10]["pools"]  # Porter: pool, price; "the", "of", "a", "in" are stop words
    assert [hit.doc_id for hit in found] == ["0", "1"]
    assert found[0].score == pytest.approx(bm25(tf=2, df=1, length=3) + bm25(tf=1, df=2, length=3), abs=2e-4)
    assert found[1].score == pytest.approx(bm25(tf=1, df=2, length=3), abs=2e-4)


def test_ties_go_by_document_id_as_a_string_and_hits_are_limited(runs):
    assert [hit.doc_id for hit in runs[10]["swim"]] == ["10", "2", "9"]
    assert [hit.doc_id for hit in runs[2]["swim"]] == ["10", "2"]


def test_a_query_without_hits_has_no_line_and_non_ascii_text_is_found(runs):
    assert set(runs[10]) == {"pools", "swim", "café"} and [hit.doc_id for hit in runs[10]["café"]] == ["1"]


def test_queries_that_match_nothing_are_written_down(built, runs):
    assert read_answers(built / "10.json") == (3, 6, {"none", "stop"})


def searched(folder, built, queries, state=""):
    """Search a copy of the index, whose files may be damaged."""
    (folder / "q.tsv").write_text("".join(f"{query_id}\t{text}\n" for query_id, text in queries.items()), encoding="utf-8")
    write_counts(folder / "q.json", Counts(len(queries), 1, 1, ""))
    paths = folder / "q.tsv", folder / "q.json"
    retrieve(built, *paths, 0.9, 0.4, 10, 2, 512, folder / "out.run", folder / "out.json", state)
    return read_run(folder / "out.run")


ODD = {
    "Aérodrome%20X/Heading%20one/Sub%2Fhead": "pools", "\U0001f41d": "swim", "\uffee": "swim spa", "%s{0}\"'<b>&|": "price", "=1": "zebra",
    "a/b": "café", "../a": "paris", "007": "spa", "x" * 3000: "pool price",
}  # fmt: skip


def test_ids_may_be_any_letters_and_parts_make_the_very_run_of_one_search(built, tmp_path, monkeypatch):
    found = searched(tmp_path, built / "index", ODD)
    assert found.keys() == ODD.keys() - {"=1"} and [hit.doc_id for hit in found["../a"]] == ["1"]
    whole, answers = (tmp_path / "out.run").read_bytes(), (tmp_path / "out.json").read_bytes()
    monkeypatch.setattr("epic.first_stage.retrieve.QUERIES_AT_A_TIME", 4)
    assert searched(tmp_path, built / "index", ODD, tmp_path / "state") == found
    assert len(list((tmp_path / "state").glob("*/*-of-3.run"))) == 3
    assert ((tmp_path / "out.run").read_bytes(), (tmp_path / "out.json").read_bytes()) == (whole, answers)


def test_a_query_of_more_terms_than_lucene_allows_is_searched_like_any_other(built, tmp_path, runs):
    many = " ".join(f"word{i}" for i in range(3000))
    found = searched(tmp_path, built / "index", QUERIES | {"long": f"{many} pools prices"})
    assert found == runs[10] | {"long": runs[10]["pools"]}
    assert [hit.docid for hit in java.Searcher(built / "index", 0.9, 0.4).search(f"{many} swim", 10)] == ["10", "2", "9"]


def test_every_flipped_bit_of_an_index_is_found(built, tmp_path):
    shutil.copytree(built / "index", tmp_path / "index")
    refuse_damage(tmp_path / "index")
    for path in (tmp_path / "index").iterdir():
        whole = path.read_bytes()
        for place in range(0, len(whole), 1 + len(whole) // 20):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
            with pytest.raises(InputError, match=path.name):
                refuse_damage(tmp_path / "index")
        path.write_bytes(whole)
    refuse_damage(tmp_path / "index")


def test_a_search_that_fails_in_java_names_the_query(built, tmp_path, monkeypatch):
    shutil.copytree(built / "index", tmp_path / "index")
    monkeypatch.setattr("epic.first_stage.retrieve.refuse_damage", lambda index: None)
    (path,) = (tmp_path / "index").glob("*.fdt")  # the ids of the documents
    data = path.read_bytes()
    path.write_bytes(data[:-30] + bytes(byte ^ 0x5A for byte in data[-30:-16]) + data[-16:])
    with pytest.raises(RuntimeError, match=r"Anserini failed: java\.\S+(Exception|Error)\b.*; no hits of query swim"):
        searched(tmp_path, tmp_path / "index", QUERIES)
    assert not list(tmp_path.glob("out*"))
    lucene = java.Searcher(tmp_path / "index", 0.9, 0.4)
    with pytest.raises(InputError, match=r"index: Lucene cannot search for 'swim' \(.*Exception.*\); the index may be damaged"):
        lucene.search("swim", 10)
    lucene.close()


def test_a_folder_that_is_no_index_is_refused_by_its_name(tmp_path):
    with pytest.raises(InputError, match=r"Lucene cannot open it \(.*\); make it again"):
        java.Searcher(tmp_path, 0.9, 0.4)


def test_the_searcher_for_latency_and_pyserini_give_the_same_ranking(built, runs, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")  # pyserini makes a client when it is imported
    ours = java.Searcher(built / "index", 0.9, 0.4)
    from pyserini.search.lucene import LuceneSearcher

    theirs = LuceneSearcher(str(built / "index"))
    theirs.set_bm25(0.9, 0.4)
    for query_id, text in QUERIES.items():
        batch = [hit.doc_id for hit in runs[10].get(query_id, [])]
        assert [hit.docid for hit in ours.search(text, 10)] == batch
        assert [hit.docid for hit in theirs.search(text, 10)] == batch


def test_documents_that_anserini_loses_without_an_error_are_noticed(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "docs-000.jsonl").write_text('{"id": "0", "contents": "one"}\n{"id": "1", "contents": \n')
    (tmp_path / "docs" / "count").write_text(json.dumps({"documents": 2, "with_text": 2}))
    with pytest.raises(RuntimeError, match="docs: Anserini failed: .*see the log"):
        index(tmp_path / "docs", threads=1, memory_mb=512, out=tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_empty_passages_are_not_indexed_and_not_missed(built):
    assert "" in DOCS.values() and document_count(built / "index") == 5


class FewDocuments:
    """Passages as a collection gives them."""

    dataset, texts = "a collection", ["pool price", "\u00a0", "\u3000\u2003", "", "\x01", "swim spa"]

    def __len__(self):
        return len(self.texts)

    def span(self, positions):
        return ((str(place), self.texts[place]) for place in positions)


def test_passages_of_blanks_that_only_unicode_or_only_java_knows_are_not_indexed_and_not_missed(tmp_path):
    expand(FewDocuments(), None, None, None, tmp_path / "docs")
    index(tmp_path / "docs", threads=1, memory_mb=512, out=tmp_path / "index")
    assert document_count(tmp_path / "index") == 2
