"""The collection in numbers: lengths do not depend on the shards, and judgments are counted over all datasets."""

import json
import statistics as reference

import pytest

from epic.analysis import statistics
from epic.model.tokens import tokenizer_of
from epic.vectors.tokenise import tokenise
from tests.vectors import spoken


def tokenised(model, documents, folder, shards):
    """Write the word-pieces of a collection in shards."""
    paths = [folder / f"{shard}-of-{shards}" for shard in range(1, shards + 1)]
    for path in paths:
        tokenise(spoken(model, documents, path.name), path)
    return paths


def test_lengths_are_counted_with_the_word_pieces_and_do_not_depend_on_the_shards(paper_model, documents, tmp_path):
    one = statistics.passages(tokenised(paper_model, documents, tmp_path / "one", 1), 7)
    three = statistics.passages(tokenised(paper_model, documents, tmp_path / "three", 3), 7)
    words = [4, 0, 1, 26, 2, 2, 3]  # of the fixture's passages
    pieces = [4, 0, 1, 26, 2, 4, 3]  # pools is two word-pieces
    assert one == three and one["count"] == 7
    assert one["terms"]["mean"] == pytest.approx(reference.fmean(words)) and one["terms"]["sd"] == pytest.approx(
        reference.stdev(words)
    )
    assert one["word_pieces"]["mean"] == pytest.approx(reference.fmean(pieces))


def test_queries_are_counted_with_their_judgments(tiny_encoder, monkeypatch):
    monkeypatch.setattr("epic.analysis.statistics.AT_A_TIME", 2)
    texts = ["cost of pools", "price", "café pool", "x", "y"]
    found = statistics.queries(texts, [1, 2], tokenizer_of(tiny_encoder))
    assert (
        found["count"] == 5
        and found["terms"]["mean"] == pytest.approx(8 / 5)
        and found["word_pieces"]["mean"] == pytest.approx(9 / 5)
    )
    assert found["judgments_per_query"] == pytest.approx(3 / 5) and found["answered_share"] == pytest.approx(2 / 5)
    assert found["judgments_per_answered_query"] == pytest.approx(3 / 2)
    empty = statistics.queries([], [], tokenizer_of(tiny_encoder))
    assert empty["count"] == 0 and empty["judgments_per_query"] == 0.0


def test_statistics_are_written_for_all_datasets_together(paper_model, documents, tiny_encoder, tmp_path):
    shards = tokenised(paper_model, documents, tmp_path / "shards", 2)
    for split, judged in (("a", "q 0 1 1\nq 0 2 1\nr 0 1 0\n"), ("b", "q 0 1 2\n")):
        (tmp_path / f"queries.{split}.tsv").write_text("q\tcost\nr\tprice of pool\n")
        (tmp_path / f"qrels.{split}.txt").write_text(judged)
    datasets = [f"path:{tmp_path}#a", f"path:{tmp_path}#b"]
    (tmp_path / "manifest.json").write_text(json.dumps({"count": 7}))
    statistics.write_statistics(tmp_path / "manifest.json", shards, datasets, tiny_encoder, tmp_path / "s.json")
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["queries"]["count"] == 4 and found["queries"]["answered_share"] == 0.5  # q of a, q of b; grade 0 answers nothing
    assert found["queries"]["judgments_per_answered_query"] == 1.5 and found["passages"]["count"] == 7
    statistics.write_statistics(tmp_path / "manifest.json", [], datasets, [], tmp_path / "plain.json")  # no model precomputes
    plain = json.loads((tmp_path / "plain.json").read_text())
    assert plain["passages"] == {"count": 7} and "word_pieces" not in plain["queries"] and plain["queries"]["terms"]["mean"] == 2
