"""Validation: the judged queries' hits, re-ranked by the model as it is."""

from types import SimpleNamespace

import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.evaluation.measures import mean_of
from epic.training.validation import Validation, open_validation, validate
from tests.measures import measure
from tests.query_sets import answered, counted
from tests.training import settings


def opened(folder, names):
    files = {key: folder / name for key, name in names.items()}
    files["validation_counts"] = counted(files["validation_queries"], files["validation_qrels"])
    files["validation_answers"] = answered(files["validation_queries"], files["validation_run"])
    return SimpleNamespace(**files)


def test_only_judged_validation_queries_are_encoded_and_the_grade_counts(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\ta\nq2\tb\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\n")
    (tmp_path / "run").write_text("q1 Q0 0 1 2.0 t\nq2 Q0 1 1 2.0 t\n")
    names = {"validation_queries": "q.tsv", "validation_qrels": "qrels", "validation_run": "run"}
    files = opened(tmp_path, names)
    found = open_validation(files, settings(), measure("RR(rel=2)@10"))
    assert list(found.run) == ["q1"] and found.measure == measure("RR(rel=2)@10")
    assert (
        mean_of(found.qrels, {"q1": ["0"]}, found.measure) == 0.0 and mean_of(found.qrels, {"q1": ["0"]}, measure("RR@10")) == 1.0
    )


class Fake:
    """A family whose scores are given, and a ranker that knows whether it is in training."""

    def __init__(self, scores):
        self.scores, self.asked, self.training = scores, [], True

    def eval(self):
        self.training = False

    def score(self, ranker, run, queries, documents, budget):
        self.asked.append((ranker, run, queries, documents, budget))
        assert not self.training
        return {
            query_id: [ScoredDoc(hit.doc_id, self.scores[query_id][hit.doc_id]) for hit in hits] for query_id, hits in run.items()
        }


def test_the_mean_reciprocal_rank_of_re_ranked_hits_by_hand():
    run = {"q": [ScoredDoc(doc, 9.0) for doc in "bca"], "r": [ScoredDoc(doc, 9.0) for doc in "zyx"]}
    qrels = {"q": {"b": 1}, "r": {"z": 1, "x": 0}, "s": {"m": 1}}  # s was not found, and counts with 0
    fake = Fake({"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"x": 0.5, "y": 0.5, "z": 0.5}})
    validation = Validation({"q": "one", "r": "two"}, qrels, run, 64, measure("RR@10"))
    assert validate(fake, fake, "documents", validation) == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)  # equal scores go by id
    assert fake.asked == [(fake, run, {"q": "one", "r": "two"}, "documents", 64)]


def test_the_lowest_grade_that_counts_is_the_query_set_s_own():
    run, scores = {"q": [ScoredDoc(doc, 9.0) for doc in "ab"]}, {"q": {"a": 2.0, "b": 1.0}}
    for name, expected in (("RR@10", 1.0), ("RR(rel=2)@10", 0.5), ("RR(rel=3)@10", 0.0)):
        fake = Fake(scores)
        assert validate(fake, fake, None, Validation({}, {"q": {"a": 1, "b": 2}}, run, 64, measure(name))) == expected


def test_the_value_is_of_the_measure_that_chooses_the_model():
    run, scores = {"q": [ScoredDoc(doc, 9.0) for doc in "abcd"]}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    qrels = {"q": {"a": 1, "c": 1, "d": 2}, "r": {"z": 1}}  # r was not found
    for name, expected in (("RR", 1 / 2), ("Rprec", 2 / 3 / 2), ("P@2", 1 / 4), ("AP", (1 + 2 / 3 + 3 / 4) / 3 / 2)):
        fake = Fake(scores)
        assert validate(fake, fake, None, Validation({}, qrels, run, 64, measure(name))) == pytest.approx(expected, rel=1e-6), (
            name
        )
    assert validate(fake, fake, None, Validation({}, qrels, run, 64, measure("Rprec(rel=2)"))) == 0.0


def test_only_the_first_hits_are_re_ranked(tmp_path):
    (tmp_path / "q").write_text("q1\ta\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\n")
    (tmp_path / "run").write_text("".join(f"q1 Q0 {doc} {rank} {9 - rank} t\n" for rank, doc in enumerate("43210", start=1)))
    files = opened(tmp_path, {"validation_queries": "q", "validation_qrels": "qrels", "validation_run": "run"})
    found = open_validation(files, settings(validation_hits=2, validation_token_budget=99), measure("RR@10"))
    assert [hit.doc_id for hit in found.run["q1"]] == ["4", "3"] and found.token_budget == 99 and found.queries == {"q1": "a"}


@pytest.mark.parametrize(("name", "text"), [("run", "q1 Q0 0 1 2.0 t\n"), ("qrels", "q1 0 0 1\n")])
def test_a_model_is_not_chosen_on_a_part_of_the_queries(tmp_path, name, text):
    (tmp_path / "q").write_text("q1\ta\nq2\tb\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\nq2 0 1 1\n")
    (tmp_path / "run").write_text("q1 Q0 0 1 2.0 t\nq2 Q0 1 1 2.0 t\n")
    files = opened(tmp_path, {"validation_queries": "q", "validation_qrels": "qrels", "validation_run": "run"})
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f"{name} has 1 .* says 2 of 2"):
        open_validation(files, settings(), measure("RR@10"))
