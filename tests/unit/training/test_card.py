"""The model card: what was trained, on what, how well."""

import re

from epic.core.visible import one_line
from epic.rankers import epic as family
from epic.training.card import model_card, with_sha256
from epic.training.history import Iteration
from tests.hostile import ALL, unseen
from tests.markdown import Page

ENCODER = {"source": "google-bert/bert-base-uncased", "revision": "86b5e09", "sha256": "68d4"}
ENTRY = {
    "id": "paper",
    "family": "epic",
    "settings": {"formulation": "paper"},
    "encoder": ENCODER,
    "start": None,
    "loss": "cross-entropy",
    "seed": 42,
}
SAID = family.card(ENTRY)
DATA = {"data": {"documents": "msmarco-passage", "count": 8}, "triples": {"source": "docpairs"}}


def test_it_names_experiment_data_settings_digest_and_the_best_validation():
    history = [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5), Iteration(2, 16, 0.6, 0.75, 0.5, 1.4), Iteration(3, 24, 0.5, 0.8, 0.4, 9.9)]
    card = model_card(SAID, "mine", ENTRY, DATA, {"batch_size": 16, "max_tokens": None}, "RR@10", [history], "abc123")
    assert card.startswith("---\nlibrary_name: epic\n") and "sha256 of the weights: `abc123`" in card
    assert "Experiment `mine`, model `paper`" in card and "revision `86b5e09`" in card and "`68d4`" in card
    assert "MRR@10 **0.5000** at iteration 2 of 3 (16 triples)" in card
    assert "| data | documents msmarco-passage, count 8 |" in card and "| max_tokens | none |" in card
    assert "| formulation | paper |" in card and "Epic.from_pretrained" in card
    assert "| batch_size | 16 |" in card and "9.9" not in card and "1.4" not in card  # no timings: the same bytes each time


def test_an_untrained_or_imported_model_says_so_and_lists_no_training():
    untrained = model_card(SAID, "mine", ENTRY | {"loss": None}, DATA, {"batch_size": 16}, None, [], "abc")
    assert "Not trained further." in untrained and "batch_size" not in untrained
    start = {"source": "download:epic.p", "md5": "df75"}
    imported = model_card(SAID, None, ENTRY | {"start": start}, DATA, {}, None, [], "abc")
    assert "trained by the paper's authors, from `download:epic.p`, md5 `df75`" in imported
    assert "Experiment" not in imported and "None" not in imported
    assert "md5" not in model_card(SAID, None, ENTRY | {"start": start | {"md5": None}}, DATA, {}, None, [], "abc")


def test_whatever_a_text_says_the_card_shows_it():
    def card(text):
        entry = ENTRY | {"encoder": {"source": text, "revision": text, "sha256": "68d4"}, "start": {"source": text, "md5": None}}
        entry["settings"] = {"formulation": text, "x": {"y": text}}
        data = {"data": {"documents": text}, "triples": {"source": text}}
        history = [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5)]
        return model_card(SAID, "mine", entry, data, {"batch_size": text}, "RR@10", [history], "abc").partition("\n---\n")[2]

    found, tame = Page(card(ALL)), Page(card("z"))
    assert not unseen(card(ALL)) and set(found.tags) == set(tame.tags) and len(found.cells) == len(tame.cells)
    assert found.text.count(one_line(ALL)) == len(re.findall(r"\bz\b", tame.text)) == 8


def test_a_card_names_no_folder_outside_of_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    entry = ENTRY | {
        "encoder": ENCODER | {"source": "path:/home/jane-doe/bert"},
        "start": {"source": "path:/home/jane-doe/epic.p", "md5": None},
    }
    data = {"data": {"documents": "path:/home/jane-doe/coll"}, "triples": {"dataset": f"path:{tmp_path}/mine#train"}}
    card = model_card(SAID, "mine", entry, data, {}, "RR@10", [[Iteration(1, 8, 0.7, 0.5, 0.25, 1.5)]], "abc")
    assert "jane-doe" not in card and "`path:.../bert`" in card and "path:.../coll" in card and "path:mine\\#train" in card


def test_the_sha256_of_an_encoder_that_only_a_revision_pins_is_the_one_that_was_found(tmp_path):
    entry = ENTRY | {"encoder": ENCODER | {"sha256": None}}
    assert with_sha256(ENTRY, tmp_path) is ENTRY and with_sha256(entry, tmp_path) is entry and with_sha256(entry, []) is entry
    assert with_sha256(ENTRY | {"encoder": None}, tmp_path)["encoder"] is None
    assert "| encoder's sha256 | not pinned |" in model_card(SAID, "mine", entry, DATA, {}, None, [], "abc")
    (tmp_path / "published.json").write_text('{"sha256": "77aa"}')
    found = with_sha256(entry, tmp_path)
    assert "| encoder's sha256 | `77aa` |" in model_card(SAID, "mine", found, DATA, {}, None, [], "abc")
    assert entry["encoder"]["sha256"] is None  # what training depends on stays as it is written


def test_a_tokenizer_from_elsewhere_is_named():
    entry = ENTRY | {"encoder": ENCODER | {"tokenizer": {"source": "google-bert/bert-large-uncased", "revision": None}}}
    assert "| tokenizer | `google-bert/bert-large-uncased` |" in model_card(SAID, "mine", entry, DATA, {}, None, [], "abc")


def test_it_names_the_measure_that_chose_the_model():
    history = [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5), Iteration(2, 16, 0.6, 0.75, 0.5, 1.4)]
    card = model_card(SAID, "mine", ENTRY, DATA, {}, "Rprec", [history], "abc")
    assert "Validation R-prec **0.5000** at iteration 2 of 2 (16 triples);" in card and "MRR" not in card
    members = model_card(SAID, "mine", ENTRY, DATA, {}, "RR(rel=2)@10", [history, history[:1]], "abc")
    assert members.count("Validation MRR(rel=2)@10 **0.") == 2
