"""A run is evaluated as its file says, and the values survive the file."""

import pytest

from epic.core.files import InputError
from epic.evaluation.evaluate import evaluate, read_values
from epic.evaluation.measures import mean
from tests.measures import measure
from tests.query_sets import answered, counted

USUAL = [measure(name) for name in ("RR@10", "nDCG@10", "AP", "R@200")]


def write(tmp_path, run, qrels="q 0 8 1\nmissing 0 1 1\n", queries="q\ttext\nmissing\ttext\nunjudged\ttext\n"):
    for name, text in (("a.run", run), ("qrels", qrels), ("queries", queries)):
        (tmp_path / name).write_text(text)
    paths = tmp_path / "a.run", tmp_path / "queries", tmp_path / "qrels"
    try:
        answers = answered(paths[1], paths[0])
    except InputError:  # what cannot be read is refused before anyone asks
        answers = None
    return paths[0], answers, paths[1], paths[2], counted(*paths[1:])


def test_the_order_of_the_file_counts_where_scores_tie_or_differ_by_less_than_float32(tmp_path):
    tied = "".join(f"q Q0 {doc} {rank} 1.0 t\n" for rank, doc in enumerate(range(1, 21), start=1))
    for relevant, expected in (("1", 1.0), ("9", 1 / 9), ("11", 0.0)):
        evaluate(*write(tmp_path, tied, f"q 0 {relevant} 1\n"), USUAL, tmp_path / "v")
        assert read_values(tmp_path / "v")["RR@10"]["q"] == pytest.approx(expected, rel=1e-12)
    evaluate(*write(tmp_path, "q Q0 b 1 16.0000001 t\nq Q0 a 2 16.0 t\n", "q 0 b 1\n"), USUAL, tmp_path / "v")
    assert read_values(tmp_path / "v")["RR@10"]["q"] == 1.0


def test_values_survive_the_file(tmp_path):
    evaluate(*write(tmp_path, "q Q0 7 1 2.5 tag\nq Q0 8 2 2.5 tag\nunjudged Q0 8 1 2.5 tag\n"), USUAL, tmp_path / "values.tsv")
    found = read_values(tmp_path / "values.tsv")
    assert found["RR@10"].to_dict() == {"q": 0.5, "missing": 0.0} and found["R@200"]["q"] == 1.0 and list(found)[-1] == "R@200"


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("stranger Q0 8 1 2.5 tag\n", r"a\.run: query stranger is not in .*queries; make the run from these queries"),
        ("q Q0 8 1 nan tag\n", "line 1: .*NaN"),
        ("q Q0 8 1 2.0 tag\nq Q0 8 2 1.0 tag\n", "line 2: document 8 stands twice"),
        ("q Q0 8 1 2.0 tag\nunjudged Q0 8 1 1.0 tag\nq Q0 9 1 1.0 tag\n", "line 3: .*two places"),
    ],
)
def test_a_run_that_cannot_be_right_is_refused_and_nothing_is_written(tmp_path, run, message):
    with pytest.raises(InputError, match=message):
        evaluate(*write(tmp_path, run), USUAL, tmp_path / "values.tsv")
    assert not (tmp_path / "values.tsv").exists()


def test_queries_stand_in_the_order_of_their_judgments_and_ids_stay_as_they_are(tmp_path):
    ids = ["007", "NA", "1e5", "7", "Zürich", "nan"]
    run = "".join(f"{query_id} Q0 8 1 2.5 tag\n" for query_id in reversed(ids))
    texts = "".join(f"{query_id}\ttext\n" for query_id in ids)
    qrels = "".join(f"{query_id} 0 8 1\n" for query_id in ids)
    evaluate(*write(tmp_path, run, qrels, texts), USUAL, tmp_path / "values.tsv")
    lines = [line.split("\t") for line in (tmp_path / "values.tsv").read_text().splitlines()]
    assert lines[0] == ["query_id", "RR@10", "nDCG@10", "AP", "R@200"]
    assert lines[1:] == [[query_id, "1.0", "1.0", "1.0", "1.0"] for query_id in ids]
    assert read_values(tmp_path / "values.tsv").index.tolist() == ids


def test_one_query_is_enough(tmp_path):
    evaluate(
        *write(tmp_path, "q Q0 7 1 2.5 tag\nq Q0 9 2 2.4 tag\nq Q0 8 3 2.3 tag\n", "q 0 8 1\n"), USUAL, tmp_path / "values.tsv"
    )
    assert (tmp_path / "values.tsv").read_text().splitlines()[1].split("\t")[1] == "0.3333333333333333"
    assert mean(read_values(tmp_path / "values.tsv")["RR@10"]) == 1 / 3


@pytest.mark.parametrize(
    "text",
    [
        "query_id\tRR@10\tnDCG@10\nq\t0.5\n",  # cut off
        "query_id\tRR@10\nq\t0.5\nr\t0.",
        "query_id\tRR@10\n",
        "query_id\nq\n",
        "",
    ],
)
def test_a_table_that_is_not_whole_is_refused(tmp_path, text):
    (tmp_path / "values.tsv").write_text(text)
    with pytest.raises(InputError, match=r"values\.tsv: not a table of per-query values \(.+\); make it again"):
        read_values(tmp_path / "values.tsv")


@pytest.mark.parametrize(
    "text",
    [
        "query_id\tRR@10\nq\t0.5\nr\t1.5\n",
        "query_id\tRR@10\nq\t0.5\nr\t-0.5\n",
        "query_id\tRR@10\tAP\nq\t0.5\t0.5\nr\t0.5\t5\n",
    ],
)
def test_a_value_outside_0_and_1_is_refused_with_its_line(tmp_path, text):
    (tmp_path / "values.tsv").write_text(text)
    with pytest.raises(InputError, match=r"values\.tsv line 3: a value of query r is not within 0 and 1; make it again"):
        read_values(tmp_path / "values.tsv")


def test_a_measure_that_the_table_lacks_is_asked_for_in_vain(tmp_path):
    (tmp_path / "values.tsv").write_text("query_id\tRR@10\nq\t0.5\n")
    with pytest.raises(InputError, match=r"values\.tsv: not a table of per-query values"):
        read_values(tmp_path / "values.tsv", "RR(rel=2)@10")


def test_values_are_of_the_measures_that_are_asked_for_in_their_order(tmp_path):
    run = "q Q0 7 1 2.5 tag\nq Q0 8 2 2.4 tag\nq Q0 9 3 2.3 tag\n"
    wanted = ["Rprec", "RR", "P@5", "AP(rel=2)"]
    evaluate(*write(tmp_path, run, "q 0 8 1\nq 0 9 2\n"), [measure(name) for name in wanted], tmp_path / "values.tsv")
    assert (tmp_path / "values.tsv").read_text() == "query_id\tRprec\tRR\tP@5\tAP(rel=2)\nq\t0.5\t0.5\t0.4\t0.3333333333333333\n"
    found = read_values(tmp_path / "values.tsv")
    assert list(found) == wanted and found["AP(rel=2)"]["q"] == 1 / 3
    with pytest.raises(InputError, match=r"no columns query_id, RR@10"):
        read_values(tmp_path / "values.tsv", "RR@10")


QRELS = "q 0 8 1\nmissing 0 1 1\nmissing 0 2 0\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "qrels",
            "q 0 8 1\n",
            r"qrels has 1 judgments of 1 queries, .*counts\.json says 3 of 2; one of the two files is damaged",
        ),
        ("qrels", "q 0 8 1\nmissing 0 1 1\n", r"qrels has 2 judgments of 2 queries, .*counts\.json says 3 of 2"),
        ("qrels", QRELS.replace("missing", "unjudged"), r"qrels has other judged queries than .*counts\.json says"),
        ("qrels", "", r"qrels: the file is empty; expected a line for each judgment"),
        ("queries", "q\ttext\nmissing\ttext\n", r"queries has 2 queries, .*counts\.json says 3"),
        ("a.run", "q Q0 8 1 2.5 tag\n", r"a\.run: query unjudged has no hits \(1 such\), .*answers\.json says otherwise"),
        ("a.run", "", r"a\.run: query q has no hits \(2 such\), .*answers\.json says otherwise"),
    ],
)
def test_what_was_cut_after_it_was_counted_is_not_evaluated(tmp_path, name, text, message):
    paths = write(tmp_path, "q Q0 8 1 2.5 tag\nunjudged Q0 8 1 2.5 tag\n", QRELS)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        evaluate(*paths, USUAL, tmp_path / "values.tsv")
    assert not (tmp_path / "values.tsv").exists()
