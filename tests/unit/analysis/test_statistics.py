"""Costs of pre-computing, and the collection in numbers."""

import json
import statistics as reference

import pytest

from epic import statistics
from epic.costs import MS_MARCO, write_costs
from epic.lengths import Lengths
from epic.pace import write_pace
from epic.tokens import tokenizer_of
from tests.unit.test_encode import documents, encoded  # noqa: F401 - a fixture

COMPUTE = {"device": "cpu", "threads": 1, "precision": "float32"}


def lengths(values):
    found = Lengths()
    found.add(values)
    return found


@pytest.mark.parametrize("values", [[3], [3, 5], [1, 2, 3, 400], [73, 28, 0, 512] * 50, [7] * 9])
def test_mean_and_deviation_are_those_of_the_standard_library_however_they_are_added(values):
    cut = len(values) // 3
    found = (lengths(values[:cut]) + lengths(values[cut:])).summary()
    assert found["mean"] == pytest.approx(reference.fmean(values))
    assert found["sd"] == pytest.approx(reference.stdev(values) if len(values) > 1 else 0.0)
    assert Lengths().summary() == {"mean": 0.0, "sd": 0.0}


def test_lengths_are_counted_while_encoding_and_do_not_depend_on_the_shards(paper_model, documents, tmp_path):  # noqa: F811
    one = statistics.passages(encoded(paper_model, documents, tmp_path / "one", 1))
    three = statistics.passages(encoded(paper_model, documents, tmp_path / "three", 3))
    words = [4, 0, 1, 26, 2, 2, 3]  # of the fixture's passages
    pieces = [4, 0, 1, 26, 2, 4, 3]  # pools is two word-pieces
    assert one == three and one["count"] == 7
    assert one["terms"]["mean"] == pytest.approx(reference.fmean(words)) and one["terms"]["sd"] == pytest.approx(
        reference.stdev(words)
    )
    assert one["word_pieces"]["mean"] == pytest.approx(reference.fmean(pieces))


def test_queries_are_counted_with_their_judgments(tiny_encoder, monkeypatch):
    monkeypatch.setattr("epic.statistics.AT_A_TIME", 2)
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


def test_statistics_are_written_for_all_datasets_together(paper_model, documents, tiny_encoder, tmp_path):  # noqa: F811
    shards = encoded(paper_model, documents, tmp_path / "shards", 2)
    for split, judged in (("a", "q 0 1 1\nq 0 2 1\nr 0 1 0\n"), ("b", "q 0 1 2\n")):
        (tmp_path / f"queries.{split}.tsv").write_text("q\tcost\nr\tprice of pool\n")
        (tmp_path / f"qrels.{split}.txt").write_text(judged)
    datasets = [f"path:{tmp_path}#a", f"path:{tmp_path}#b"]
    statistics.write_statistics(shards, datasets, tiny_encoder, tmp_path / "s.json")
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["queries"]["count"] == 4 and found["queries"]["answered_share"] == 0.5  # q of a, q of b; grade 0 answers nothing
    assert found["queries"]["judgments_per_answered_query"] == 1.5 and found["passages"]["count"] == 7


def test_costs_are_summed_over_shards_and_measured_on_disk(paper_model, documents, tmp_path):  # noqa: F811
    shards = encoded(paper_model, documents, tmp_path, 2)
    for shard, seconds in zip(shards, (2.0, 5.0), strict=True):
        write_pace(seconds, COMPUTE, shard, f"{shard}.pace.json")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "terms.u16").write_bytes(bytes(7 * 2 * 10))
    (tmp_path / "store" / "weights.f16").write_bytes(bytes(7 * 2 * 10))
    write_costs([f"{shard}.pace.json" for shard in shards], shards[0], {10: tmp_path / "store"}, tmp_path / "costs.json")
    found = json.loads((tmp_path / "costs.json").read_text())
    assert found["passages"] == 7 and found["seconds"] == 7.0 and found["passages_per_second"] == 1.0
    assert found["ms_marco_hours"] == pytest.approx(MS_MARCO / 3600) and found["compute"] == COMPUTE
    full, pruned = found["stores"]
    vocabulary = found["vocabulary"]
    assert full["keep"] == "full" and full["bytes_per_passage"] == 2 * vocabulary and not full["measured"]
    assert pruned["keep"] == 10 and pruned["bytes_per_passage"] == 40.0 and pruned["measured"]
    assert pruned["ms_marco_gib"] == pytest.approx(40 * MS_MARCO / 2**30)
    assert pruned["vocabulary_reduced_by"] == pytest.approx(1 - 10 / vocabulary)


def test_the_papers_arithmetic():
    """At r=1000 MS MARCO takes 32.9 GiB, not the 34 of the text; unpruned 502.7."""
    assert (
        pytest.approx(32.94, abs=0.01) == 4000 * MS_MARCO / 2**30
        and pytest.approx(502.67, abs=0.01) == 2 * 30522 * MS_MARCO / 2**30
    )
