"""The end of a run on a terminal: the table in a hundred columns, and one sentence that says what was found."""

import json

import pytest

from epic.core import seals
from epic.core.files import InputError
from epic.report.summary import WIDTH, finding, summary
from tests.hostile import ALL, unseen


def row(name, kind="model", first_stage="bm25", **more):
    facts = {"id": name, "label": name.upper(), "group": "Re-ranking" if kind == "model" else "First stages", "kind": kind}
    facts |= {"first_stage": first_stage, "query_set": "test", "ours": 0.25, "published": 0.3, "verdict": "below", "marks": ""}
    return facts | {"ours_ms": 12.34} | more


BM25, EPIC = row("bm25", kind="first-stage"), row("epic", ours=0.5, marks="a", verdict="match")
NOT_RUN = row("tk", kind="published-only", first_stage=None, query_set=None, ours=None, ours_ms=None, verdict="not run")
TEST = {
    "system": "epic", "baseline": "bm25", "queries": 58, "system_mean": 0.5, "baseline_mean": 0.25, "difference": 0.25,
    "p_holm": 0.00882, "significant": True,
}  # fmt: skip


def table(*rows):
    return {"title": "Mine", "headline": "test", "measure": "RR@10", "rows": list(rows)}


@pytest.fixture
def results(tmp_path):
    def made(*rows, tests=(TEST,)):
        (tmp_path / "significance").mkdir()
        (tmp_path / "table.json").write_text(json.dumps(table(*rows)))
        (tmp_path / "significance" / "test.json").write_text(json.dumps({"families": [{"tests": list(tests)}]}))
        return summary(tmp_path)

    return made


def test_every_row_stands_under_its_group_with_its_numbers(results):
    lines = results(BM25, EPIC, NOT_RUN).splitlines()
    assert [line.split() for line in lines[2:8]] == [
        ["published", "ours", "ms/query"],
        ["First", "stages"],
        ["BM25", "below", "0.3", "0.2500", "12.3"],
        ["Re-ranking"],
        ["EPIC", "match", "0.3", "0.5000a", "12.3"],
        ["First", "stages"],
    ]
    assert lines[8].split() == ["TK", "not", "run", "0.3", "-", "-"]
    assert any(line.startswith("report:") and line.endswith("report.html") for line in lines)


def test_nothing_is_wider_than_a_hundred_columns(results):
    wide = row("long", label="A system with a very long name " * 5, query_set="another-query-set", verdict="not comparable")
    lines = results(BM25, wide, tests=()).splitlines()
    assert max(map(len, lines[: lines.index("")] + lines[2:8])) <= WIDTH
    assert any("... " in line and "not comparable (another-query-set)" in line for line in lines)


def test_one_sentence_says_what_was_found():
    assert finding(table(BM25, EPIC, NOT_RUN), [TEST]) == (
        "Found: EPIC 0.5000 against BM25 0.2500 (+0.2500, corrected p = 0.0088, 58 queries), a significant difference; "
        "against the published values: below 1, match 1, not run 1."
    )
    other = TEST | {"baseline": "other"}  # not its own first stage
    assert "no significant difference; " in finding(table(BM25, EPIC), [other, TEST | {"significant": False}])
    for tests in ([], [other]):
        assert finding(table(BM25, EPIC), tests).startswith("Found: no re-ranker was tested against its own first stage; ")


def test_a_folder_without_a_table_is_refused_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(InputError, match=r"has no table\.json yet; run `snakemake .*table\.json --cores all` first"):
        summary(tmp_path)


@pytest.mark.parametrize("name", ["table.json", "significance/test.json"])
def test_numbers_that_were_changed_since_they_were_written_are_not_shown(results, tmp_path, name):
    results(BM25, EPIC)
    seals.seal([tmp_path / name], "table")
    (tmp_path / name).write_text((tmp_path / name).read_text().replace("0.", "1.", 1))
    with pytest.raises(InputError, match="has other content than was written by the stage table"):
        summary(tmp_path)


def test_a_label_gives_the_terminal_no_orders(results):
    text = results(BM25 | {"label": ALL, "group": ALL, "verdict": ALL}, EPIC)
    assert "\x1b" not in text and not unseen(text) and "\\u001b[31m" in text


def test_it_names_the_measure_of_the_table_and_an_older_table_is_made_again(results, tmp_path):
    assert results(BM25, EPIC).splitlines()[0] == "Mine: MRR@10 on test, unless the row names another query set"
    for measure, said in (("Rprec", "R-prec"), ("RR", "MRR"), ("P@5", "P@5")):
        (tmp_path / "table.json").write_text(json.dumps(table(BM25, EPIC) | {"measure": measure}))
        assert summary(tmp_path).startswith(f"Mine: {said} on test, ")
    (tmp_path / "table.json").write_text(json.dumps({key: value for key, value in table(BM25).items() if key != "measure"}))
    with pytest.raises(InputError, match=r"does not say what it measures; make it again: `snakemake .*table\.json --cores all`$"):
        summary(tmp_path)
