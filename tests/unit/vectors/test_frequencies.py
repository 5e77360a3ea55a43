"""How often each value occurs: counts of shards add up to all values of all passages, or are refused."""

import json

import numpy as np
import pytest

from epic.core.files import InputError
from epic.vectors.frequencies import gather, read_frequencies, share_up_to
from epic.vectors.store import Store
from tests.vectors import encoded


def test_every_value_of_every_passage_is_counted_rounded_up(model, documents, tmp_path):
    paths = encoded(model.float(), documents, tmp_path, 2)
    gather(paths, tmp_path / "f.tsv")
    counts = read_frequencies(tmp_path / "f.tsv")
    assert sum(counts.values()) == 7 * model.vocabulary
    assert (min(counts) < 0) == (model.formulation == "paper")  # psi is linear there, so there are negative values
    dense = np.concatenate([Store(path).weights for path in paths])  # keep is larger than this vocabulary
    assert counts == {tenth: int((np.ceil(dense.astype(np.float64) * 10) == tenth).sum()) for tenth in counts}


def test_lost_counts_are_noticed(model, documents, tmp_path):
    path = encoded(model.float(), documents, tmp_path, 1)[0]
    counts = json.loads((path / "frequencies.json").read_text())
    counts.popitem()
    (path / "frequencies.json").write_text(json.dumps(counts))
    with pytest.raises(InputError, match="values were counted"):
        gather([path], tmp_path / "f.tsv")


def shard(folder, documents, vocabulary, counts):
    folder.mkdir()
    (folder / "header.json").write_text(json.dumps({"documents": documents, "vocabulary": vocabulary}))
    (folder / "frequencies.json").write_text(json.dumps(counts))
    return folder


def test_counts_of_shards_by_hand(tmp_path):
    shards = [shard(tmp_path / "a", 2, 3, {"-12": 1, "0": 4, "1": 1}), shard(tmp_path / "b", 1, 3, {"0": 1, "13": 2})]
    shards.append(shard(tmp_path / "none", 0, 3, {}))
    gather(shards, tmp_path / "f.tsv")
    assert (tmp_path / "f.tsv").read_text() == "value\tcount\n-1.2\t1\n0.0\t5\n0.1\t1\n1.3\t2\n"
    assert read_frequencies(tmp_path / "f.tsv") == {-12: 1, 0: 5, 1: 1, 13: 2}


def test_the_share_up_to_a_value_counts_the_value_itself():
    counts = {-1: 1, 0: 5, 1: 2, 13: 2}
    assert [share_up_to(counts, tenth) for tenth in (-2, -1, 0, 1, 12, 13)] == [0.0, 0.1, 0.6, 0.8, 0.8, 1.0]


def test_every_tenth_survives_the_file(tmp_path):
    counts = {str(tenth): 1 for tenth in range(-300, 301)}
    gather([shard(tmp_path / "a", 1, 601, counts)], tmp_path / "f.tsv")
    assert list(read_frequencies(tmp_path / "f.tsv")) == list(range(-300, 301))


@pytest.mark.parametrize(
    "line",
    [
        "0.1",
        "0.1\tx",
        "0.1\t-1",
        "0.1\t0",
        "x\t1",
        "nan\t1",
        "inf\t1",
        "0.0\t2",
        "0.15\t1",
        "0.1\t" + "9" * 100_000,
        "value\tcount",
    ],
)
def test_a_line_that_is_no_count_is_named(tmp_path, line):
    (tmp_path / "f.tsv").write_text(f"value\tcount\n0.0\t5\n{line}\n")
    with pytest.raises(InputError, match=r"f\.tsv line 3: expected value and count"):
        read_frequencies(tmp_path / "f.tsv")


def test_a_file_without_header_or_without_counts_is_refused(tmp_path):
    (tmp_path / "f.tsv").write_text("0.0\t5\n")
    with pytest.raises(InputError, match=r"f\.tsv line 1: expected value and count"):
        read_frequencies(tmp_path / "f.tsv")
    (tmp_path / "f.tsv").write_text("value\tcount\n")
    with pytest.raises(InputError, match=r"f\.tsv: the file is empty"):
        read_frequencies(tmp_path / "f.tsv")


@pytest.mark.parametrize(
    ("header", "counts", "said"),
    [
        ({"documents": 1.0, "vocabulary": 1}, {"0": 1}, r"header\.json: expected the numbers"),
        ({"vocabulary": 1}, {"0": 1}, r"header\.json: expected the numbers"),
        ([], {"0": 1}, r"header\.json: expected the numbers"),
        ({"documents": 1, "vocabulary": 1}, {"x": 1}, r"frequencies\.json: expected counts by tenths"),
        ({"documents": 1, "vocabulary": 1}, {"0": 1.0}, r"frequencies\.json: expected counts by tenths"),
        ({"documents": 1, "vocabulary": 1}, {"0": 2, "1": -1}, r"frequencies\.json: expected counts by tenths"),
        ({"documents": 1, "vocabulary": 1}, None, r"frequencies\.json: expected counts by tenths"),
        ({"documents": 0, "vocabulary": 1}, {}, r"a: 0 values were counted, 0 expected"),
    ],
)
def test_a_shard_of_other_kinds_is_named(tmp_path, header, counts, said):
    folder = shard(tmp_path / "a", 1, 1, counts)
    (folder / "header.json").write_text(json.dumps(header))
    with pytest.raises(InputError, match=said):
        gather([folder], tmp_path / "f.tsv")
