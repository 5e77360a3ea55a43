"""Predicted queries: docTTTTTquery's files, matched by position and counted."""

import json
import zipfile

import pytest

from epic.documents import Documents
from epic.expand import expand, predicted_queries, source_of
from epic.files import InputError

NAME = "predicted_queries_topk_sample{:03d}.txt{:03d}-1004000"


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "docs.tsv").write_text("0\tzero\n1\tone\n2\tdeux café\n3\t\n", encoding="utf-8")
    return Documents(f"path:{folder}")


@pytest.fixture
def samples(tmp_path):
    """Two samples in two chunks: three passages, then one."""
    folder = tmp_path / "predicted"
    folder.mkdir()
    for sample in range(2):
        (folder / NAME.format(sample, 0)).write_text("".join(f"s{sample} d{doc}\n" for doc in range(3)))
        (folder / NAME.format(sample, 1)).write_text(f"s{sample} d3\n")
    return folder


def contents(out):
    return [json.loads(line) for line in (out / "docs-000.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_passage_is_followed_by_its_predicted_queries(documents, samples, tmp_path):
    expand(documents, samples, 2, tmp_path / "out")
    found = contents(tmp_path / "out")
    assert [line["id"] for line in found] == ["0", "1", "2", "3"]
    assert found[2]["contents"] == "deux café s0 d2 s1 d2"
    assert json.loads((tmp_path / "out" / "count.json").read_text()) == {"documents": 4, "with_text": 4}


def test_only_the_first_samples_are_used(samples):
    assert list(predicted_queries(samples, 1)) == ["s0 d0", "s0 d1", "s0 d2", "s0 d3"]


def test_a_zip_is_read_like_a_folder(samples, tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for path in samples.iterdir():
            archive.write(path, path.name)
    assert list(predicted_queries(tmp_path / "p.zip", 2)) == list(predicted_queries(samples, 2))


def test_without_predictions_the_passage_stands_alone_and_empty_ones_are_counted(documents, tmp_path):
    expand(documents, None, 0, tmp_path / "out")
    assert contents(tmp_path / "out")[1]["contents"] == "one"
    assert json.loads((tmp_path / "out" / "count.json").read_text()) == {"documents": 4, "with_text": 3}


@pytest.mark.parametrize(("lines", "said"), [(0, "for 3 passages"), (2, "for 5 passages"), (5, "for 8 passages")])
def test_predictions_for_another_number_of_passages_are_refused(documents, samples, tmp_path, lines, said):
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * lines)
    with pytest.raises(InputError, match=f"{said}, but the collection has 4"):
        expand(documents, samples, 2, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sample_that_ends_early_is_named(documents, samples, tmp_path):
    (samples / NAME.format(1, 0)).write_text("only one\n")
    with pytest.raises(InputError, match=r"sample001\.txt000-1004000 ends after line 1"):
        expand(documents, samples, 2, tmp_path / "out")


def test_a_missing_sample_and_a_file_that_is_no_zip_are_named(samples, tmp_path):
    with pytest.raises(InputError, match="chunk 000 lacks sample 002"):
        list(predicted_queries(samples, 3))
    (tmp_path / "half.zip").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(InputError, match="is the download complete"):
        list(predicted_queries(tmp_path / "half.zip", 1))


def test_the_source_is_found_from_its_files(samples, tmp_path):
    assert source_of([]) is None
    assert source_of(sorted(map(str, samples.iterdir()))) == samples
    assert source_of(str(tmp_path / "p.zip")) == tmp_path / "p.zip"


def test_a_lone_carriage_return_is_no_line_end(samples):
    (samples / NAME.format(0, 1)).write_bytes(b"s0\rd3\n")
    assert len(list(predicted_queries(samples, 2))) == 4
