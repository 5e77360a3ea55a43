"""The batches of the released code: eight passages at a time, in the collection's order."""

from epic.vectors.released_batches import longest_for


def test_beside_a_passage_are_those_of_its_eight_in_the_collection_s_order(released, collection_of):
    lengths = [1, 2, 3, 0, 5, 4, 3, 2, 1, 1, 7, 1, 1, 1, 1, 6, 0, 2]  # two batches, and one of two
    documents = collection_of(*(" ".join("abcdefg"[:length]) for length in lengths))
    assert longest_for(released, documents, ["0"]) is None  # unless the model asks for it
    released.released_batches = True
    found = longest_for(released, documents, [str(place) for place in range(len(lengths))])
    assert list(found.values()) == [5] * 8 + [7] * 8 + [2] * 2
    assert longest_for(released, documents, ["17", "9", "0"]) == {"17": 2, "9": 7, "0": 5}
    assert longest_for(released, documents, []) == {}


def test_no_passage_is_longer_than_the_released_code_allows(released, collection_of):
    released.released_batches = True
    documents = collection_of("a " * 2000, *["a"] * 7, "a " * 2001)
    assert longest_for(released, documents, ["1", "8"]) == {"1": 2000, "8": 2000}
