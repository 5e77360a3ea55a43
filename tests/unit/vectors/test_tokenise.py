"""Word-pieces on disk: those of the texts, for every passage of every shard, and nothing else is read as such."""

import json

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.vectors.candidates import Subset
from epic.vectors.tokenise import Passages, Spoken, Tokenised, tokenise
from tests.vectors import spoken

ALL = range(7)


def written(model, collection, path, shard="1-of-1", beside=None):
    tokenise(Spoken(model.tokenizer, collection, shard, beside), path)
    return Tokenised(path, model.tokenizer, batches=beside is not None)


@pytest.mark.parametrize("shards", [1, 3, 8])
def test_word_pieces_are_those_of_the_texts_whatever_the_shards(paper_model, documents, tmp_path, shards):
    expected, found = spoken(paper_model, documents).read(ALL), []
    for shard in range(1, shards + 1):
        part = written(paper_model, documents, tmp_path / str(shard), f"{shard}-of-{shards}")
        found.append(part.read(range(len(part))))
        assert part.start == 7 * (shard - 1) // shards
    assert [doc_id for some in found for doc_id in some.doc_ids] == expected.doc_ids == list("0123456")
    assert (
        [pieces for some in found for pieces in some.pieces] == expected.pieces == paper_model.pieces(documents.texts("0123456"))
    )
    assert expected.pieces[1] == [] and len(expected.pieces[3]) == 26  # an empty passage, one longer than the window


def test_some_rows_of_a_shard_are_read_by_themselves(paper_model, documents, tmp_path):
    shard = written(paper_model, documents, tmp_path / "a", "2-of-2")
    assert shard.start == 3 and shard.read(range(1, 3)) == Passages(
        ["4", "5"], paper_model.pieces(["café cost", "pools pools"]), None
    )
    assert shard.read(range(2, 2)) == Passages([], [], None)


def test_ids_of_any_kind_are_kept(paper_model, tmp_path):
    (tmp_path / "docs.tsv").write_text("käse/1\ta\nd%20\tb c\n", encoding="utf-8")
    shard = written(paper_model, Documents(f"path:{tmp_path}"), tmp_path / "a")
    assert shard.read(range(2)).doc_ids == ["käse/1", "d%20"]


def test_the_longest_of_the_released_code_s_batches_are_kept_where_a_model_asks_for_them(released, collection_of, tmp_path):
    lengths = [1, 2, 3, 0, 5, 4, 3, 2, 1, 7]
    documents = collection_of(*(" ".join("abcdefg"[:length]) for length in lengths))
    shard = written(released, documents, tmp_path / "a", "2-of-2", beside=documents)
    assert shard.read(range(5)).longest == [5, 5, 5, 7, 7]  # the batch of eight begins in the shard before
    with pytest.raises(InputError, match=r"longest\.u16: 0 bytes, the header promises 10"):
        written(released, documents, tmp_path / "b", "2-of-2")
        Tokenised(tmp_path / "b", released.tokenizer, batches=True)


def test_lengths_are_counted_in_word_pieces_and_in_words(paper_model, documents, tmp_path):
    written(paper_model, documents, tmp_path / "a")
    lengths = json.loads((tmp_path / "a" / "lengths.json").read_text())
    pieces = [len(ids) for ids in paper_model.pieces(documents.texts("0123456"))]
    assert lengths["word_pieces"] == {"count": 7, "total": sum(pieces), "squares": sum(n * n for n in pieces)}
    assert lengths["terms"]["total"] == 4 + 0 + 1 + 26 + 2 + 2 + 3


def test_the_same_texts_give_the_same_bytes(paper_model, documents, tmp_path):
    for name in "ab":
        written(paper_model, documents, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_chosen_part_of_the_collection_is_read_in_its_order(paper_model, documents, tmp_path):
    some = Subset(documents, np.array([0, 3, 4, 6]))
    shard = written(paper_model, some, tmp_path / "a", "1-of-1")
    assert shard.read(range(4)).doc_ids == ["0", "3", "4", "6"]
    assert some.positions(["6", "3"]) == [3, 1] and some.positions([]) == []
    with pytest.raises(InputError, match="document 5 is no candidate"):
        some.positions(["6", "5"])
    with pytest.raises(InputError, match="document 0 is no candidate"):
        Subset(documents, np.array([], dtype=np.int64)).positions(["0"])


def test_a_damaged_shard_or_another_tokenizer_s_is_refused(paper_model, documents, tmp_path):
    written(paper_model, documents, tmp_path / "a")
    pieces = tmp_path / "a" / "pieces.u16"
    pieces.write_bytes(pieces.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"pieces\.u16: \d+ bytes, the header promises \d+; make it again"):
        Tokenised(tmp_path / "a", paper_model.tokenizer)
    written(paper_model, documents, tmp_path / "a")
    other = type(paper_model.tokenizer).from_str(paper_model.tokenizer.to_str())
    other.add_tokens(["pool's"])
    with pytest.raises(InputError, match="another tokenizer's than the model's"):
        Tokenised(tmp_path / "a", other)
    (tmp_path / "a" / "header.json").write_text("[]")
    with pytest.raises(InputError, match="not the word-pieces of a shard"):
        Tokenised(tmp_path / "a", paper_model.tokenizer)
