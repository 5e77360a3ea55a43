"""Texts word by word: the weights are the model's."""

import json

import pytest

from epic.analysis.interpret import chosen_passages, passage_weights, predicted_terms, query_weights, write_interpretation
from epic.core.files import InputError
from epic.model.query_torch import query_vector
from epic.report.words import words_figure
from epic.vectors.phi import document_vectors


def test_a_query_is_weighed_piece_by_piece_and_repeats_add_up_to_its_vector(model):
    found = query_weights(model, "pools of pools")
    assert found["pieces"] == ["pool", "##s", "of", "pool", "##s"]
    vector = dict(zip(*(part.tolist() for part in query_vector(model, "pools of pools")), strict=True))
    pool = model.tokenizer.token_to_id("pool")
    assert found["weights"][0] + found["weights"][3] == pytest.approx(vector[pool], rel=1e-5)


def test_a_passage_shows_its_own_terms_and_the_strongest_others(model):
    found = passage_weights(model, "7", "price of pool price", 5)
    vector = document_vectors(model, model.pieces(["price of pool price"]), 1000)[0]
    terms = [model.tokenizer.token_to_id(piece) for piece in found["pieces"]]
    assert found["pieces"] == ["price", "of", "pool", "price"] and found["weights"] == vector[terms].astype(float).tolist()
    expansion = [model.tokenizer.token_to_id(piece) for piece in found["expansion"]["pieces"]]
    assert not set(expansion) & set(terms) and not any(piece.startswith("[") for piece in found["expansion"]["pieces"])
    assert found["expansion"]["weights"] == sorted(found["expansion"]["weights"], reverse=True) and len(expansion) == 10
    others = [vector[term] for term in range(5, len(vector)) if term not in set(terms)]
    assert found["expansion"]["weights"][0] == max(others)


def test_an_empty_passage_is_shown_empty(model):
    assert passage_weights(model, "7", "", 5)["pieces"] == []


def test_predicted_terms_are_counted():
    assert predicted_terms(["pool", "cost", "pool", "a", "cost", "pool"]) == {
        "pieces": ["pool", "cost", "a"],
        "weights": [3.0, 2.0, 1.0],
    }
    assert len(predicted_terms([chr(97 + i) for i in range(20)])["pieces"]) == 10 and predicted_terms([]) == {
        "pieces": [],
        "weights": [],
    }


def test_passages_are_given_by_id_or_by_a_query(tmp_path):
    (tmp_path / "qrels").write_text("q 0 3 0\nq 0 8 1\nq 0 9 2\nr 0 1 0\n")
    paths = {"test": tmp_path / "qrels"}
    assert chosen_passages(["5", {"query_set": "test", "query": "q"}], paths) == ["5", "8"]
    for query in ("r", "unknown"):
        with pytest.raises(InputError, match=f"no passage is relevant to query {query} of test"):
            chosen_passages([{"query_set": "test", "query": query}], paths)


@pytest.fixture
def collection(collection_of):
    return collection_of("price", "price of pool", "deux café", "")


def test_everything_is_written_and_the_same_each_time(paper_model, collection, samples, tmp_path):
    for name in ("one", "two"):
        texts = {"queries": ["cost of pool"], "passages": ["1"]}
        write_interpretation(paper_model, collection, texts, {}, (samples, 2), 5, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    (passage,) = json.loads((tmp_path / "one").read_text())["passages"]
    assert passage["predicted"]["pieces"] == ["d1", "s0", "s1"] and passage["predicted"]["weights"] == [2.0, 1.0, 1.0]
    write_interpretation(paper_model, collection, {"queries": [], "passages": ["0"]}, {}, (None, None), 5, tmp_path / "three")
    assert json.loads((tmp_path / "three").read_text())["passages"][0]["predicted"] is None


def test_entries_that_only_pad_the_vocabulary_are_no_expansion(padded_model, collection, tmp_path):
    shown = passage_weights(padded_model, "7", "a pool", 5)["expansion"]
    assert len(shown["pieces"]) == 10 and not any(piece is None or piece.startswith("[") for piece in shown["pieces"])
    write_interpretation(
        padded_model, collection, {"queries": ["a pool"], "passages": ["1"]}, {}, (None, None), 5, tmp_path / "out"
    )
    words_figure(tmp_path / "out", "title", [tmp_path / "words.png"])


def test_as_many_expansion_terms_are_shown_however_many_entries_pad_the_vocabulary(padded_model, monkeypatch):
    every = passage_weights(padded_model, "7", "a pool", 5)["expansion"]["pieces"]
    monkeypatch.setattr("epic.analysis.interpret.word_of", lambda tokenizer, term: "x" if term == 20 else f"[unused {term}]")
    assert passage_weights(padded_model, "7", "a pool", 5)["expansion"]["pieces"] == ["x"] and len(every) == 10
