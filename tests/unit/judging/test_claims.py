"""Claims: every sentence is data, and a verdict is given only where it may be."""

import json

import pytest
import yaml

from epic.core.files import InputError
from epic.core.visible import one_line
from epic.judging.checks import CHECKS
from epic.judging.claims import _verdict, check, check_all, markdown, read_claims, shown, write_claims
from epic.judging.evidence import Found
from epic.judging.verdicts import said
from tests.hostile import ALL, unseen
from tests.judging import CLAIMS, FAMILIES, verdicts
from tests.markdown import Page, cells


def test_on_other_data_numbers_are_not_compared_and_order_is_only_seen(evidence):
    found = verdicts(evidence, ["collection", "encoder"])
    assert found["mrr"][1] == found["small-values"][1] == found["overhead"][1] == "not comparable"
    assert found["beats-bm25"][1] == "seen here" and found["drop-doctttttquery"][1] == "not seen here"
    assert found["like-doctttttquery"][1] == "inconclusive"
    assert found["bytes-full"][1] == "holds"  # arithmetic holds everywhere
    said = {verdict for _, verdict in found.values()}
    assert said <= {
        "not comparable",
        "seen here",
        "not seen here",
        "inconclusive",
        "holds",
        "does not hold",
        "not checkable here",
    }


def test_a_number_of_another_query_set_is_not_compared(evidence):
    evidence.rows["doctttttquery-full"]["query_set"] = "dev-small"
    (claim,) = [claim for claim in read_claims(CLAIMS) if claim["id"] == "mrr"]
    found = check(claim, evidence, "paper", [])
    assert found["verdict"] == "not comparable" and found["because"] == ["other query set"]


def test_a_test_on_another_query_set_is_only_seen(evidence):
    evidence.headline = "dl19"
    assert verdicts(evidence)["beats-bm25"] == ("better", "seen here")


def test_a_bound_within_the_interval_is_inconclusive(evidence):
    together = evidence.timings["together"]
    together["doctttttquery-1000"] = together["doctttttquery-full"]  # 15 ms more, certainly
    assert verdicts(evidence)["overhead"][1] == "does not hold"
    claim = {"computed": {"x": []}, "needs": [], "published": 5, "at_most": 5.5}
    assert _verdict(claim, Found(4.9, interval=[1.0, 9.0]), []) == ("inconclusive", [])
    assert _verdict(claim, Found(4.9, interval=[4.0, 5.2]), []) == ("holds", [])


def test_what_an_experiment_lacks_is_said_and_not_invented(evidence):
    found = check_all(read_claims(CLAIMS), evidence, {None: [], "other": []}, FAMILIES)
    reasons = {claim["id"]: claim["results"][0]["because"] for claim in found}
    assert reasons["best-iteration"] == ["there is no training of this model here"]
    assert reasons["mrr"] == ["other on doctttttquery with r=full is not run here"]
    evidence.tests.clear()
    missing = check_all(read_claims(CLAIMS), evidence, {None: [], "paper": []}, FAMILIES)
    because = {claim["id"]: claim["results"][0]["because"] for claim in missing}
    assert because["beats-bm25"] == ["bm25-full is not compared with bm25 in this experiment"]


def test_the_file_names_what_the_paper_says():
    claims = {claim["id"]: claim for claim in read_claims(CLAIMS)}
    published = {
        "small-values": 0.74, "query-vector-gpu": 18, "query-vector-cpu": 51, "score": 1, "overhead": 5, "speed-up": 1.3,
        "cutoff-bm25": 99, "cutoff-doctttttquery": 15, "best-iteration": 42, "bytes-full": 60, "total-full": 500, "bytes-1000": 3.9,
        "total-1000": 34, "hours": 14, "vocabulary-2000": 0.934, "vocabulary-1000": 0.967, "car": 0.353, "passage-length": 73.1,
        "query-length": 7.5, "judgments": 0.7, "answered": 0.62, "judgments-of-answered": 1.1,
    }  # fmt: skip
    assert {name: claims[name]["published"] for name in published} == published
    used = {name for claim in claims.values() for name in claim.get("computed", {})}
    assert used == set(CHECKS)  # and nothing is computed that nobody claims


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"surprise": 1}, "has no key surprise"),
        ({"computed": {"nonsense": []}}, "no function nonsense"),
        ({"says_why": "both"}, "needs either computed or says_why"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, change, said):
    claim = {"id": "x", "section": "s", "says": "t", "published": 1, "computed": {"cutoff": ["bm25"]}, "needs": []}
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim | change]))
    with pytest.raises(InputError, match=rf"claims\.yaml: claim x.*{said}"):
        read_claims(tmp_path / "claims.yaml")


def test_values_for_people():
    assert shown(0.742, "share") == "74.2 %" and shown(8_841_823, "passages") == "8,841,823 passages"
    assert shown(None, "ms") == "-" and shown("lower", None) == "lower" and shown(3.90625, "KiB") == "3.91 KiB"
    assert Found("x").holds is None


def test_both_forms_are_written_and_say_the_same(tmp_path, evidence):
    outs = {"json": tmp_path / "claims.json", "md": tmp_path / "claims.md"}
    write_claims(CLAIMS, evidence, {None: [], "paper": []}, FAMILIES, "T", "the note", outs)
    found, text = json.loads(outs["json"].read_text()), outs["md"].read_text()
    assert len(found["claims"]) == len(read_claims(CLAIMS)) and "the note" in text
    lines = cells(text)[2:]  # below header and rule
    assert [line[-1] for line in lines] == [
        said(r["verdict"], r["because"]) for claim in found["claims"] for r in claim["results"]
    ]
    assert {len(line) for line in lines} == {6} and [line[1] for line in lines] == [claim["says"] for claim in found["claims"]]


def test_a_claim_is_said_once_and_cannot_break_the_table():
    results = [
        {"model": "paper", "ours": 0.3, "verdict": "holds", "because": [], "detail": "on dev"},
        {
            "model": "released",
            "ours": None,
            "verdict": "not comparable",
            "because": ["other collection", "other encoder"],
            "detail": "",
        },
    ]
    unrun = [{"model": None, "ours": None, "verdict": "not checkable here", "because": ["a | b"], "detail": ""}]
    about = {"section": "pruning", "says": "r | s,\nZürich", "published": 0.304, "unit": None}
    claims = [
        about | {"id": "one", "results": results},
        about | {"id": "two", "results": unrun},
        about | {"id": "none", "results": []},
    ]
    assert cells(markdown(claims, "T", "note"))[2:] == [
        ["pruning", "r | s, Zürich", "0.304", "paper", "0.3 (on dev)", "holds"],
        ["", "", "", "released", "-", "not comparable: other collection, encoder"],
        ["pruning", "r | s, Zürich", "0.304", "-", "-", "not checkable here: a | b"],  # another claim in the same words
    ]
    assert cells(markdown([], "T", "note"))[0] == ["", "claim", "published", "model", "ours", "verdict"]


def test_the_claims_are_about_the_paper_s_own_family(evidence):
    found = check_all(read_claims(CLAIMS), evidence, {None: [], "paper": [], "tk": []}, FAMILIES)
    assert {result["model"] for claim in found for result in claim["results"]} == {None, "paper"}


def test_whatever_a_text_says_the_page_shows_it():
    def page(text):
        result = {"model": "paper", "ours": 0.3, "verdict": "holds", "because": [text], "detail": text}
        return markdown(
            [{"id": "x", "section": text, "says": text, "published": 0.3, "unit": None, "results": [result]}], text, text
        )

    found, tame, shown = Page(page(ALL)), Page(page("x")), one_line(ALL)
    assert not unseen(page(ALL)) and found.tags == tame.tags and len(found.cells) == len(tame.cells)
    assert found.text.count(shown) == tame.text.count("x", tame.text.index(":")) == 6


def test_a_claim_by_another_measure_is_none_of_the_paper_s(evidence, tmp_path):
    evidence.measure = "Rprec"
    for name, value in (("e", 0.2), ("b", 0.5)):  # by R-prec this query is worse, by its reciprocal rank better
        (tmp_path / f"{name}.values").write_text(f"query_id\tRR@10\tRprec\n1048578\t{1 - value}\t{value}\n")
    found = {
        claim["id"]: claim["results"][0] for claim in check_all(read_claims(CLAIMS), evidence, {None: [], "paper": []}, FAMILIES)
    }
    for name in ("mrr", "bert-large"):  # a number of another measure is not shown as if it were one of this
        assert found[name]["verdict"] == "not checkable here" and found[name]["ours"] is None
        assert found[name]["because"] == ["the table shows R-prec here, not MRR@10"]
    assert (found["beats-bm25"]["verdict"], found["beats-bm25"]["because"]) == ("seen here", ["other measure"])
    assert (found["endless-pools"]["ours"], found["endless-pools"]["verdict"]) == ("not higher", "not seen here")
    assert found["like-doctttttquery"]["verdict"] == "inconclusive"
    same = {
        name: found[name]["verdict"] for name in ("best-iteration", "cutoff-bm25", "lower-cutoff", "small-values", "overhead")
    }
    assert same == {name: verdicts(evidence)[name][1] for name in same} and same["cutoff-bm25"] == "holds"


def test_a_choice_by_another_measure_is_not_the_paper_s(evidence):
    evidence.selection = "Rprec"
    found = {
        claim["id"]: claim["results"][0] for claim in check_all(read_claims(CLAIMS), evidence, {None: [], "paper": []}, FAMILIES)
    }
    for name in ("best-iteration", "cutoff-bm25"):
        assert (found[name]["verdict"], found[name]["because"]) == ("not comparable", ["other measure"])
    assert found["lower-cutoff"]["verdict"] == "seen here" and found["mrr"]["verdict"] == "holds"


def test_a_claim_of_effectiveness_or_of_a_choice_says_by_what_and_no_other_does(tmp_path):
    of_paper = read_claims(CLAIMS)
    assert {claim["measure"] for claim in of_paper if "measure" in claim} == {"RR@10"}
    claim = {"id": "x", "section": "s", "says": "t", "published": 1, "needs": []}
    for change, message in (
        ({"computed": {"better": ["bm25", "full", "bm25"]}}, "x needs the measure that the paper took"),
        ({"computed": {"cutoff": ["bm25"]}}, "x needs the measure that the paper took"),
        ({"computed": {"cost": ["full", "gib"]}, "measure": "RR"}, "x has no measure"),
        ({"computed": {"cutoff": ["bm25"]}, "measure": "MRR"}, "x: there is no measure MRR; there are RR, "),
    ):
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim | change]))
        with pytest.raises(InputError, match=rf"claims\.yaml: claim {message}"):
            read_claims(tmp_path / "claims.yaml")
