"""Rows: which of our values stands beside which published one."""

import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import counts_of, write_counts
from epic.corpus.runs import write_answers
from epic.judging.rows import comparison_of, coverage_of, metrics_of, published_ms
from epic.judging.verdicts import paper_value
from tests.judging import entry, row


def test_ours_is_taken_from_the_published_query_set_where_it_was_run():
    both = {"dev": {"RR@10": 0.2}, "test": {"RR@10": 0.4}}
    assert comparison_of(row(both, [entry(query_set="dev")]), "test", "RR@10")["ours"] == 0.2
    other = comparison_of(row(both, [entry(query_set="other")]), "test", "RR@10")
    assert other["ours"] == 0.4 and other["difference"] is None and other["because"] == ["other query set"]
    assert comparison_of(row(both), "test", "RR@10")["verdict"] == "not published"


def test_a_row_that_the_paper_does_not_have_is_compared_with_whoever_published_it():
    measured, theirs = {"test": {"RR@10": 0.31}}, entry(0.31) | {"source": "a repository"}
    found = comparison_of(row(measured, [theirs]), "test", "RR@10")
    assert (found["published"], found["source"], found["verdict"]) == (0.31, "a repository", "match")
    assert comparison_of(row(measured, [theirs, entry(0.25)]), "test", "RR@10")["source"] == "paper"
    assert paper_value(row(measured, [theirs]), "RR@10") is None


def test_the_table_compares_by_the_measure_of_the_experiment():
    measured = {"dev": {"RR@10": 0.2, "Rprec": 0.31, "AP": 0.1}, "test": {"RR@10": 0.4, "Rprec": 0.5}}
    found = row(measured, [entry(0.2, "dev"), entry(0.3, "dev", metric="Rprec"), entry(0.9, "test", metric="AP")])
    by = {measure: comparison_of(found, "test", measure) for measure in ("RR@10", "Rprec", "AP", "P@5")}
    assert [(one["published"], one["ours"], one["ours_headline"]) for one in by.values()] == [
        (0.2, 0.2, 0.4), (0.3, 0.31, 0.5), (0.9, None, None), (None, None, None),
    ]  # fmt: skip
    assert [one["verdict"] for one in by.values()] == ["match", "match", "not comparable", "not published"]
    assert by["AP"]["because"] == ["other measure"] and paper_value(found, "Rprec")["value"] == 0.3


def test_a_row_without_metrics_was_not_run():
    assert comparison_of(row(), "test", "RR@10")["verdict"] == "not run"


@pytest.fixture
def evaluated(tmp_path):
    """Two evaluations with their records: of the judged queries of dev, r has no hits."""
    for name, lines, without in (("dev", "q\t0.5\t0.25\nr\t0.0\t0.75\n", ["r", "x"]), ("test", "s\t1.0\t0.5\n", ["x"])):
        (tmp_path / f"{name}.tsv").write_text("query_id\tRR@10\tAP\n" + lines)
        judged = {line.split("\t")[0]: {"a": 1} for line in lines.splitlines()}
        write_counts(tmp_path / f"{name}.counts", counts_of([*judged, "x"], judged))
        asked = [*judged, "x"]
        write_answers(tmp_path / f"{name}.answers", asked, {query_id: 9 for query_id in asked if query_id not in without})
    names = ["dev", "test"]
    return names, *([tmp_path / f"{name}.{kind}" for name in names] for kind in ("tsv", "answers", "counts"))


def test_metrics_are_means_over_queries_for_each_query_set_and_say_if_some_have_no_hits(evaluated):
    assert metrics_of(*evaluated) == {
        "dev": {"RR@10": 0.25, "AP": 0.5, "queries": 2, "answered": 1},
        "test": {"RR@10": 1.0, "AP": 0.5, "queries": 1},
    }


def test_values_of_fewer_or_other_queries_than_were_judged_are_refused(evaluated):
    path = evaluated[1][0]
    for lines, message in (
        ("q\t0.5\t0.25\n", r"dev\.tsv has 1 judged queries, .*says 2"),
        ("q\t1\t1\nz\t1\t1\n", "other judged queries"),
    ):
        path.write_text("query_id\tRR@10\tAP\n" + lines)
        with pytest.raises(InputError, match=message):
            metrics_of(*evaluated)


def test_the_table_says_how_many_queries_have_hits_only_where_not_all_do(evaluated):
    found = row(metrics_of(*evaluated))
    assert coverage_of(found, "dev") == {"answered": 1, "judged": 2}
    assert coverage_of(found, "test") == coverage_of(found, "other") == coverage_of(row(), None) == {}


def test_a_published_latency_is_known_by_its_metric():
    assert published_ms(row(published=[entry(0.3), entry(48, "latency", None, "ms/query")])) == 48
    assert published_ms(row(published=[entry(0.3)])) is None and published_ms(row()) is None
