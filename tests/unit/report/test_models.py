"""The page of a model: everything about it, the same bytes each time."""

import json

import pytest

from epic.latency.timings import write_latency
from epic.report.models import write_model
from epic.training.history import Iteration, write_histories, write_history
from tests.hostile import ALL, unseen
from tests.judging import entry
from tests.judging import row as judged
from tests.latency import ABOUT, total
from tests.markdown import Page, cells

INFO = {"title": "T", "note": "a note", "alpha": 0.01, "command": "snakemake it", "chosen_by": "RR@10"}
MODEL = {"id": "m", "label": "M"}


@pytest.fixture
def files(tmp_path):
    def write(name, value):
        (tmp_path / name).write_text(json.dumps(value))
        return tmp_path / name

    for row, ms in (("s", (10, 12)), ("a", (13, 15))):
        timings = {"warm": {"1": total(ms[0]), "2": total(ms[1])}}
        where = tmp_path / f"{row}.json", tmp_path / f"{row}.tsv"
        write_latency(timings, "not here", ABOUT | {"together": ["s", "a"]}, {}, *where)
    for name, values in (("system", (1.0, 0.5, 0.5)), ("baseline", (0.5, 0.5, 0.25))):
        lines = [f"{query}\t{value}\n" for query, value in enumerate(values)]
        (tmp_path / f"{name}.values").write_text("query_id\tRR@10\n" + "".join(lines))
    (tmp_path / "f.tsv").write_text("value\tcount\n0.1\t74\n0.5\t26\n")
    write_history([Iteration(1, 8, 0.1, 0.5, 0.25, 1.0), Iteration(2, 16, 0.1, 0.5, 0.5, 1.0)], tmp_path / "history.tsv")
    metrics = {"test": {"RR@10": 0.3, "nDCG@10": 0.4, "queries": 3}}
    store = {"keep": 10, "bytes_per_passage": 4000.0, "gib": 0.5, "ms_marco_gib": 32.9}
    facts = {
        "passages": 336,
        "passages_per_second": 12.5,
        "ms_marco_hours": 196.5,
        "stores": [store],
        "compute": {"device": "cpu"},
    }
    query = {"text": "what are pools", "pieces": ["what", "pools", "pools"], "weights": [0.1, 0.5, 0.9]}
    passage = {
        "doc_id": "7",
        "text": "a pool",
        "pieces": ["a"],
        "weights": [0.2],
        "expansion": {"pieces": ["price"], "weights": [0.7]},
    }
    return {
        "rows": {"a": write("row.json", judged(metrics, [entry(0.25), entry(48, "latency", None, "ms/query")]))},
        "cutoffs": {"s": write("cutoff.json", {"cutoff": 7, "curve": [0.1] * 20})},
        "latencies": {row: tmp_path / f"{row}.json" for row in ("s", "a")},
        "timings": {row: tmp_path / f"{row}.tsv" for row in ("s", "a")},
        "history": tmp_path / "history.tsv",
        "costs": write("costs.json", facts),
        "frequencies": tmp_path / "f.tsv",
        "texts": write("texts.json", {"queries": [query], "passages": [passage]}),
        "discarded": write("gone.json", {"bytes": 71 * 10**9, "again": "snakemake again"}),
    }


@pytest.fixture
def tests(tmp_path):
    test = {"row": "a", "baseline_id": "s", "query_set": "test", "metric": "RR@10"}
    return [test | {name: tmp_path / f"{name}.values" for name in ("system", "baseline")}]


def page(files, tests, out, model=MODEL, **about):
    write_model(model, files, {"a": "s"}, tests, INFO | about, out)
    return out.read_text()


def test_everything_known_of_a_model_is_on_its_page_and_the_same_each_time(files, tests, tmp_path):
    text = page(files, tests, tmp_path / "one.md")
    assert text == page(files, tests, tmp_path / "two.md")
    shown = cells(text)
    for line in (
        ["test, 3 queries", "RR@10", "nDCG@10"],
        ["A & B_1", "0.3000", "0.4000"],
        ["A & B_1", "paper", "test", "RR@10", "0.25", "0.01", "0.3000", "+0.0500", "above"],
        ["s", "7", "1 to 20"],
        ["10", "4,000", "0.5", "32.9"],
        ["query", "what are pools", "pools 0.90, what 0.10"],
        ["passage, terms that it does not have", "a pool", "price 0.70"],
    ):
        assert line in shown, line
    assert "best of 2 validations is number 2, MRR@10 0.5000" in text and "74.0 % of all values are 0.1 or below" in text
    assert (
        "removed after use (71 GB). To make them again: `snakemake again`" in text and "snakemake it" in text and "a note" in text
    )


def test_tests_and_overheads_are_paired(files, tests, tmp_path):
    shown = cells(page(files, tests, tmp_path / "page.md"))
    (test,) = [line for line in shown if line[:2] == ["a", "s"]]
    assert test[2] == "+0.2500" and test[-1] == "2, 1, 0" and test[4] == test[5]  # one test: nothing to correct
    (latency,) = [line for line in shown if line[:2] == ["a", "14.00"]]
    assert latency[5].startswith("+3.00 (") and latency[6] == "48" and latency[4] == "-"
    (first,) = [line for line in shown if line[:2] == ["s", "11.00"]]
    assert first[5] == "-"


def test_a_row_that_was_timed_on_fewer_queries_says_so(files, tests, tmp_path):
    slow = json.loads(files["latencies"]["a"].read_text()) | {"queries": 1, "instead_of": 2}
    files["latencies"]["a"].write_text(json.dumps(slow))
    shown = cells(page(files, tests, tmp_path / "page.md"))
    assert any(line[:2] == ["a", "14.00 (1 queries)"] for line in shown) and any(line[:2] == ["s", "11.00"] for line in shown)


def test_p_is_corrected_for_the_tests_on_one_query_set(files, tests, tmp_path):
    shown = cells(page(files, [*tests, tests[0] | {"row": "b"}], tmp_path / "page.md"))
    found = [line for line in shown if line[0] in "ab" and line[1] == "s"]
    assert len(found) == 2 and all(float(line[5]) == pytest.approx(2 * float(line[4]), rel=0.05) for line in found)


def test_a_model_that_is_not_trained_and_has_no_vectors_or_tests_says_less(files, tmp_path):
    less = files | {key: [] for key in ("history", "costs", "frequencies", "texts", "discarded")}
    text = page(less, [], tmp_path / "page.md")
    assert "Not trained here" in text
    assert not any(f"## {heading}" in text for heading in ("Its vectors", "Words", "Against its first stages"))


def test_whatever_a_text_says_the_page_shows_it(files, tests, tmp_path):
    plain = Page(page(files, tests, tmp_path / "plain.md"))
    hostile = Page(page(files, tests, tmp_path / "hostile.md", model={"id": "m", "label": ALL}, title=ALL, note=ALL))
    assert hostile.tags == plain.tags and not unseen(hostile.text)


def test_each_member_of_an_ensemble_is_shown_and_what_is_remarked_on_them_once(files, tests, tmp_path):
    history = [Iteration(1, 8, 0.1, 0.5, 0.25, 1.0), Iteration(2, 16, 0.1, 0.5, 0.5, 1.0)]
    write_histories([history, history[:1]], tmp_path / "history.tsv")
    row = json.loads((tmp_path / "row.json").read_text())
    (tmp_path / "row.json").write_text(json.dumps(row | {"remarks": ["Member 2 sleeps."]}))
    found = page(files | {"rows": {"a": tmp_path / "row.json", "b": tmp_path / "row.json"}}, tests, tmp_path / "model.md")
    assert "Trained here: 2 members, whose scores are added up." in found
    write_histories([history], tmp_path / "history.tsv")
    alone = page(files | {"rows": {"a": tmp_path / "row.json"}}, tests, tmp_path / "alone.md")
    assert "Trained here: best of 2 validations" in alone and alone.count("Member 2 sleeps.") == 1
    assert "1. The best of 2 validations is number 2, MRR@10 0.5000." in found
    assert "2. The best of 1 validations is number 1, MRR@10 0.2500." in found and found.count("Member 2 sleeps.") == 1


def test_the_measure_that_chose_the_model_and_those_that_it_is_tested_by_are_named(files, tests, tmp_path):
    for name in ("system", "baseline"):
        path = tmp_path / f"{name}.values"
        path.write_text(path.read_text().replace("RR@10", "AP", 1))
    found = page(files, [tests[0] | {"metric": "AP"}], tmp_path / "page.md", chosen_by="Rprec")
    assert "best of 2 validations is number 2, R-prec 0.5000" in found and "MRR@10" not in found
    assert ["test, AP, 3 queries", "against"] in [line[:2] for line in cells(found)]


def test_a_model_that_was_not_timed_and_whose_candidates_alone_were_encoded_says_so(files, tests, tmp_path):
    text = page(files | {"latencies": {}, "timings": {}, "frequencies": []}, tests, tmp_path / "page.md")
    assert "Not timed: its first stage is a run file, so that no query is searched for here." in text
    assert "Only candidates were encoded" in text and "0.1 or below" not in text
