"""Rows: which of our values stands beside which published one."""

from epic.judging.rows import comparison_of, metrics_of, published_ms
from epic.judging.verdicts import paper_value
from tests.judging import entry, row


def test_ours_is_taken_from_the_published_query_set_where_it_was_run():
    both = {"dev": {"RR@10": 0.2}, "test": {"RR@10": 0.4}}
    assert comparison_of(row(both, [entry(query_set="dev")]), "test")["ours"] == 0.2
    other = comparison_of(row(both, [entry(query_set="other")]), "test")
    assert other["ours"] == 0.4 and other["difference"] is None and other["because"] == ["other query set"]
    assert comparison_of(row(both), "test")["verdict"] == "not published"


def test_a_row_that_the_paper_does_not_have_is_compared_with_whoever_published_it():
    measured, theirs = {"test": {"RR@10": 0.31}}, entry(0.31) | {"source": "a repository"}
    found = comparison_of(row(measured, [theirs]), "test")
    assert (found["published"], found["source"], found["verdict"]) == (0.31, "a repository", "match")
    assert comparison_of(row(measured, [theirs, entry(0.25)]), "test")["source"] == "paper"
    assert paper_value(row(measured, [theirs])) is None


def test_a_row_without_metrics_was_not_run():
    assert comparison_of(row(), "test")["verdict"] == "not run"


def test_metrics_are_means_over_queries_for_each_query_set(tmp_path):
    for name, lines in (("dev", "q\t0.5\t0.25\nr\t0.0\t0.75\n"), ("test", "s\t1.0\t0.5\n")):
        (tmp_path / name).write_text("query_id\tRR@10\tAP\n" + lines)
    assert metrics_of({name: tmp_path / name for name in ("dev", "test")}) == {
        "dev": {"RR@10": 0.25, "AP": 0.5, "queries": 2},
        "test": {"RR@10": 1.0, "AP": 0.5, "queries": 1},
    }


def test_a_published_latency_is_known_by_its_metric():
    assert published_ms(row(published=[entry(0.3), entry(48, "latency", None, "ms/query")])) == 48
    assert published_ms(row(published=[entry(0.3)])) is None and published_ms(row()) is None
