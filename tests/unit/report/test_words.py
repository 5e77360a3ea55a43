"""Coloured words: shades are scaled within each text, and the picture shows them."""

import json

import numpy as np
import pytest

from epic.core.files import InputError
from epic.core.visible import one_line
from epic.report.words import color, lines_of, shades, words_figure
from tests import hostile


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


def test_whatever_a_text_says_it_is_drawn_as_text(tmp_path):
    query = {"text": hostile.ALL, "pieces": hostile.TEXTS, "weights": [float(place) for place in range(len(hostile.TEXTS))]}
    passage = {
        "doc_id": hostile.ALL,
        "text": hostile.ALL,
        "pieces": ["x"],
        "weights": [1.0],
        "expansion": {"pieces": [], "weights": []},
        "predicted": None,
    }
    found = {"queries": [query], "passages": [passage]}
    drawn = lines_of(found)
    assert [word for word, _ in drawn[0][1]] == [one_line(text) for text in hostile.TEXTS] and drawn[1][
        0
    ] == f"Passage {one_line(hostile.ALL)}"
    assert not any(hostile.unseen(heading + "".join(word for word, _ in words)) for heading, words in drawn)
    (tmp_path / "texts.json").write_text(json.dumps(found))
    words_figure(tmp_path / "texts.json", "title", [tmp_path / "words.png", tmp_path / "words.pdf"])
    assert (tmp_path / "words.pdf").stat().st_size > 3000
