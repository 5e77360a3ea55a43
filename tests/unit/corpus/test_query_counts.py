"""Counts of a query set: written once, and every file is held against them."""

import json

import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import Counts, counts_of, read_counts, refuse_other_ids, write_counts

QRELS = {"q2": {"a": 1, "b": 0}, "q1": {"a": 1}}


def test_queries_judged_queries_and_judgments_are_counted(tmp_path):
    write_counts(tmp_path / "c.json", counts_of(["q1", "q2", "q3"], QRELS))
    found = json.loads((tmp_path / "c.json").read_text())
    assert {key: found[key] for key in ("queries", "judged", "judgments")} == {"queries": 3, "judged": 2, "judgments": 3}
    assert read_counts(tmp_path / "c.json") == counts_of("abc", QRELS)


def test_the_ids_of_judged_queries_count_in_their_order(tmp_path):
    write_counts(tmp_path / "c.json", counts_of(["q1", "q2", "q3"], QRELS))
    refuse_other_ids("v.tsv", ["q2", "q1"], tmp_path / "c.json")
    for other, message in (
        (["q2"], "v.tsv has 1 judged queries, .*says 2"),
        (["q2", "q3"], "v.tsv has other judged queries"),
        (["q1", "q2"], "v.tsv has other judged queries"),
    ):
        with pytest.raises(InputError, match=message):
            refuse_other_ids("v.tsv", other, tmp_path / "c.json")


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"queries": 1, "judged": 1, "judgments": 1}', json.dumps(Counts(3.0, 2, 3, "")._asdict()), "null"]
)
def test_damaged_counts_are_refused(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError, match=r"c\.json: not the counts of a query set; make it again"):
        read_counts(tmp_path / "c.json")
