"""Weighters as their stages see them: what their training depends on, and the files it reads."""

import pytest

from epic.core.files import InputError
from epic.experiment import weighting
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Source, output
from tests.conftest import ROOT

SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]


def test_a_weighter_s_training_depends_on_nothing_of_the_text_that_it_writes():
    (weighter,) = SMOKE["weighters"]
    found = weighting.regression_of(SMOKE, "deepct")
    other = SMOKE | {"weighters": [weighter | {"weigh": weighter["weigh"] | {"scale": 10}}]}
    assert set(found) == {"encoder", "max_pieces", "train"} and weighting.regression_of(other, "deepct") == found
    assert weighting.threads_of_regression(SMOKE, "deepct") == weighting.label_relevance(SMOKE, "deepct") == 1
    untrained = SMOKE | {"weighters": [weighter | {"train": None}]}
    assert weighting.threads_of_regression(untrained, "deepct") == 1


def test_the_text_that_is_written_depends_on_the_form_and_not_on_the_passages_in_a_batch():
    (weighter,) = SMOKE["weighters"]
    smaller = SMOKE | {"weighters": [weighter | {"weigh": weighter["weigh"] | {"token_budget": 512}}]}
    assert weighting.form_of(SMOKE, "deepct") == {"scale": 100, "form": "linear", "keep_all": False}
    assert weighting.form_of(smaller, "deepct") == weighting.form_of(SMOKE, "deepct")


def test_a_weighter_reads_its_encoder_and_labels_that_come_from_judgments():
    assert weighting.labelling(SMOKE, "deepct") == {
        "queries": output("queries.queries", query_set="train"),
        "qrels": output("queries.qrels", query_set="train"),
        "counts": output("queries.counts", query_set="train"),
        "stop_words": Source("path:workflow/resources/deepct/stop-words.txt"),
    }
    encoder = output("encoder.folder", encoder="minilm")
    assert weighting.regression(SMOKE, "deepct") == {"encoder": encoder, "labels": output("recall.labels", weighter="deepct")}
    (weighter,) = SMOKE["weighters"]
    plain = SMOKE | {"weighters": [weighter | {"train": weighter["train"] | {"stop_words": None}}]}
    assert weighting.labelling(plain, "deepct")["stop_words"] == []
    untrained = SMOKE | {"weighters": [weighter | {"train": None}]}
    assert weighting.regression(untrained, "deepct") == {"encoder": encoder, "labels": []}
    with pytest.raises(InputError, match="weighter deepct is not trained, so that it has no labels"):
        weighting.labelling(untrained, "deepct")
    with pytest.raises(InputError, match="there is no weighter x; there are deepct"):
        weighting.regression(SMOKE, "x")
