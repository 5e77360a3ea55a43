"""Texts word by word: the weights are the model's, and colours are scaled within each text."""

import json

import numpy as np
import pytest

from epic.documents import Documents
from epic.expand import expand, predictions_of
from epic.files import InputError
from epic.importance import query_vector
from epic.interpret import chosen_passages, passage_weights, predicted_terms, query_weights, write_interpretation
from epic.java import analyze
from epic.phi import document_vectors
from epic.words import color, lines_of, shades, words_figure
from tests.unit.test_expand import samples  # noqa: F401 - a fixture


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


def test_terms_are_those_of_the_index():
    assert analyze("How much does the Pools cost?") == ["how", "much", "doe", "pool", "cost"]  # as the paper's figure 4: "doe"


def test_passages_are_given_by_id_or_by_a_query(tmp_path):
    (tmp_path / "qrels").write_text("q 0 3 0\nq 0 8 1\nq 0 9 2\nr 0 1 0\n")
    paths = {"test": tmp_path / "qrels"}
    assert chosen_passages(["5", {"query_set": "test", "query": "q"}], paths) == ["5", "8"]
    for query in ("r", "unknown"):
        with pytest.raises(InputError, match=f"no passage is relevant to query {query} of test"):
            chosen_passages([{"query_set": "test", "query": query}], paths)


@pytest.fixture
def collection(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "docs.tsv").write_text("0\tprice\n1\tprice of pool\n2\tdeux café\n3\t\n", encoding="utf-8")
    return Documents(f"path:{folder}")


def test_predictions_are_found_again_in_the_expanded_collection(collection, samples, tmp_path):  # noqa: F811
    expand(collection, samples, 2, None, tmp_path / "out")
    assert predictions_of(tmp_path / "out", {"1": "price of pool", "3": ""}) == {"1": "s0 d1 s1 d1", "3": "s0 d3 s1 d3"}


def test_everything_is_written_and_the_same_each_time(paper_model, collection, samples, tmp_path):  # noqa: F811
    expand(collection, samples, 2, None, tmp_path / "out")
    for name in ("one", "two"):
        texts = {"queries": ["cost of pool"], "passages": ["1"]}
        write_interpretation(paper_model, collection, texts, {}, tmp_path / "out", 5, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    (passage,) = json.loads((tmp_path / "one").read_text())["passages"]
    assert passage["predicted"]["pieces"] == ["d1", "s0", "s1"] and passage["predicted"]["weights"] == [2.0, 1.0, 1.0]
    write_interpretation(paper_model, collection, {"queries": [], "passages": ["0"]}, {}, None, 5, tmp_path / "three")
    assert json.loads((tmp_path / "three").read_text())["passages"][0]["predicted"] is None


def test_shades_go_from_the_least_to_the_most_of_a_text():
    assert shades([2.0, 4.0, 3.0], [2.0, 4.0]) == [0.0, 1.0, 0.5] and shades([1.0], [1.0]) == [0.5] and shades([], []) == []
    assert color(0.0) == (1.0, 1.0, 1.0) and all(0.4 < part < 1 for part in color(1.0))  # black stays readable on it


def weighed(*pieces, weights=None):
    return {"pieces": list(pieces), "weights": weights or [float(place) for place in range(len(pieces))]}


TEXTS = {
    "queries": [weighed("cost", "of", "$_x^2"), weighed("caf\u00e9", "\u6c34")],
    "passages": [
        weighed("price", "##s", weights=[1.0, 3.0])
        | {"doc_id": "7", "text": "prices", "expansion": weighed("cost", weights=[5.0]), "predicted": weighed("pool")}
    ],
}


def test_a_passage_shares_its_scale_with_its_expansion():
    found = dict(lines_of(TEXTS))
    assert found["Passage 7"] == [("price", 0.0), ("##s", 0.5)] and found["Top expansion terms"] == [("cost", 1.0)]
    assert found["Queries"] == [("cost", 0.0), ("of", 0.5), ("$_x^2", 1.0)]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_the_figure_is_the_same_bytes_each_time_whatever_the_text(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(TEXTS))
    for name in ("one", "two"):
        words_figure(tmp_path / "t.json", "title", [tmp_path / f"{name}.png", tmp_path / f"{name}.pdf"])
    for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
        assert (tmp_path / f"one.{kind}").read_bytes().startswith(start)
    (tmp_path / "none.json").write_text('{"queries": [], "passages": []}')
    with pytest.raises(InputError, match="no texts to show"):
        words_figure(tmp_path / "none.json", "title", [tmp_path / "none.png"])


def test_a_darker_word_is_darker_in_the_picture(tmp_path):
    from matplotlib import image

    for name, weights in (("left", [1.0, 0.0]), ("right", [0.0, 1.0])):
        (tmp_path / "t.json").write_text(json.dumps({"queries": [weighed("aaaa", "aaaa", weights=weights)], "passages": []}))
        words_figure(tmp_path / "t.json", "t", [tmp_path / f"{name}.png"])
    left, right = (image.imread(tmp_path / f"{name}.png")[..., 0] for name in ("left", "right"))
    darker = np.nonzero((left < right - 0.2).any(axis=0))[0]
    assert len(darker) and darker.max() < np.nonzero((right < left - 0.2).any(axis=0))[0].min() + 5
