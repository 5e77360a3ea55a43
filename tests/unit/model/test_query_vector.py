"""Query vectors as arrays, and their file to the last bit."""

import numpy as np
import pytest

from epic.core.files import InputError
from epic.model.query_vector import QueryVector, finite, query_vector_of, read_vectors, write_vectors


def test_query_vectors_survive_the_file_to_the_last_bit(tmp_path):
    weights = np.array([0.1, 1 / 3, 2e-38], dtype=np.float32)
    vectors = {"q": QueryVector(np.array([1, 2, 60_000], dtype=np.uint16), weights), "none": QueryVector(*2 * [np.array([])])}
    write_vectors(vectors, tmp_path / "v.jsonl")
    found = read_vectors(tmp_path / "v.jsonl")
    assert found["q"].weights.tobytes() == weights.tobytes() and found["q"].terms.tolist() == [1, 2, 60_000]
    assert len(found["none"].terms) == 0
    with pytest.raises(InputError, match=r"v\.jsonl has no vector of query lost; make it again"):
        found["lost"]
    (tmp_path / "v.jsonl").write_text('{"id": "q"\n')
    with pytest.raises(InputError, match=r"v\.jsonl line 1"):
        read_vectors(tmp_path / "v.jsonl")


def test_a_repeated_term_adds_up():
    found = query_vector_of(np.array([7, 3, 7]), np.array([0.5, 1.0, 0.25], dtype=np.float32))
    assert found.terms.tolist() == [3, 7] and found.weights.tolist() == [1.0, 0.75]


def test_a_query_without_word_pieces_has_an_empty_vector():
    found = query_vector_of(np.array([], dtype=np.int64), np.array([], dtype=np.float32))
    assert found.terms.dtype == np.uint16 and found.weights.dtype == np.float32 and len(found.terms) == len(found.weights) == 0


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 3e38])
def test_a_query_weight_that_is_not_finite_is_refused(value):
    with pytest.raises(InputError, match="a query has a weight that is not finite"):
        query_vector_of(np.array([5, 5]), np.array([value, value], dtype=np.float32))  # 3e38 twice is more than float32 holds


def test_a_passage_whose_weights_do_not_fit_float16_is_refused_by_its_id():
    finite("d7", np.array([65_504, -65_504, 0], dtype=np.float16))
    finite("d7", np.array([], dtype=np.float16))
    for value in (np.inf, -np.inf, np.nan):
        with pytest.raises(InputError, match="document d7 has a weight that is not finite in float16"):
            finite("d7", np.array([1, value], dtype=np.float16))


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "q", "terms": [1, 2], "weights": [0.5]}',
        '{"id": "q", "terms": [2, 1], "weights": [0.5, 0.5]}',
        '{"id": "q", "terms": [1, 1], "weights": [0.5, 0.5]}',
        '{"id": "q", "terms": [70000], "weights": [0.5]}',
        '{"id": "q", "terms": [65535], "weights": [0.5]}',
        '{"id": "q", "terms": [-1], "weights": [0.5]}',
        '{"id": "q", "terms": [1.5], "weights": [0.5]}',
        '{"id": "q", "terms": [true], "weights": [0.5]}',
        '{"id": "q", "terms": [1], "weights": [NaN]}',
        '{"id": "q", "terms": [1], "weights": [1e39]}',
        '{"id": "q", "terms": [1], "weights": [null]}',
        '{"id": "q", "terms": [[1]], "weights": [[1]]}',
        '{"id": "q", "terms": 1, "weights": 1}',
        '{"id": "q r", "terms": [1], "weights": [1]}',
        '{"id": 7, "terms": [1], "weights": [1]}',
        '{"id": "ü", "terms": [1], "weights": [1]}',
        '{"id": "q", "terms": [1]}',
        '{"terms": [1], "weights": [0.5]}',
        '["q"]',
        "",
        '{"id": "q", "terms": ["a"], "weights": [1]}',
        '{"id": "q", "terms": [1, 2], "weights": [1.0]}',  # not as many
        '{"id": "q", "terms": [1], "weights": [1.0, 2.0]}',
        '{"id": "q", "terms": [2, 1], "weights": [1.0, 2.0]}',  # not ascending
        '{"id": "q", "terms": [1, 1], "weights": [1.0, 2.0]}',
        '{"id": "q", "terms": [1.5], "weights": [1.0]}',
        '{"id": "q", "terms": [true], "weights": [1.0]}',
        '{"id": "q", "terms": [65536], "weights": [1.0]}',
        '{"id": "q", "terms": [-1], "weights": [1.0]}',
        '{"id": "q", "terms": [1], "weights": [-Infinity]}',
        '{"id": "q", "terms": [1], "weights": ["1"]}',
        '{"id": "q", "terms": [[1]], "weights": [[1.0]]}',
        '{"id": "q", "terms": {}, "weights": {}}',
        '{"id": "ü", "terms": [1], "weights": [0.5]}',  # a second vector of a query
        f'{{"id": "q", "terms": [{"9" * 5000}], "weights": [1.0]}}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_vector_is_named(tmp_path, line):
    (tmp_path / "v.jsonl").write_text('{"id": "ü", "terms": [1], "weights": [0.5]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"v\.jsonl line 2: not a query vector .*make it again"):
        read_vectors(tmp_path / "v.jsonl")


def test_a_file_is_refused_rather_than_written_with_a_weight_that_json_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="Out of range"):
        write_vectors({"q": QueryVector(np.array([1]), np.array([np.nan]))}, tmp_path / "v.jsonl")
    assert not (tmp_path / "v.jsonl").exists()
