"""DeepCT's published texts: indexed as they are, counted, and held against the collection."""

import json
import zipfile

import pytest

from epic.core.files import InputError
from epic.first_stage.deepct import sources_of, weighted_texts
from epic.first_stage.expand import expand
from tests.predicted import contents


def lines(**texts):
    return "".join(json.dumps({"id": name.removeprefix("d"), "contents": text}) + "\n" for name, text in texts.items())


@pytest.fixture
def published(tmp_path):
    """Three of four passages, in two files of a zip in a folder, as DeepCT publishes them."""
    with zipfile.ZipFile(tmp_path / "sample_100_jsonl.zip", "w") as archive:
        archive.writestr("sample_100_jsonl/docs01.json", lines(d2="deux deux café"))
        archive.writestr("sample_100_jsonl/docs00.json", lines(d0="zero zero zero", d1="one"))
        archive.writestr("sample_100_jsonl/README", "not a document")
    return tmp_path / "sample_100_jsonl.zip"


def test_texts_are_taken_as_published_and_absent_passages_are_counted(documents, published, tmp_path):
    expand(documents, None, None, [published], tmp_path / "out")
    assert contents(tmp_path / "out") == [
        {"id": "0", "contents": "zero zero zero"},
        {"id": "1", "contents": "one"},
        {"id": "2", "contents": "deux deux café"},
    ]
    assert json.loads((tmp_path / "out" / "count").read_text()) == {"documents": 3, "with_text": 3, "absent": 1}


def test_a_folder_is_read_like_a_zip(documents, published, tmp_path):
    with zipfile.ZipFile(published) as archive:
        archive.extractall(tmp_path)
    assert list(weighted_texts(documents, tmp_path / "sample_100_jsonl")) == list(weighted_texts(documents, published))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines(d0="a", d7="b"), "docs00.json line 2: passage 7 is not in .*another collection"),
        (lines(d0="a") + lines(d0="b"), "docs00.json line 2: passage 0 is given twice"),
        ('{"id": "0"}\n', "docs00.json line 1: expected id and contents"),
        ("not JSON\n", "docs00.json line 1: expected id and contents"),
    ],
)
def test_what_does_not_fit_is_refused_by_line(documents, tmp_path, text, said):
    (tmp_path / "deepct").mkdir()
    (tmp_path / "deepct" / "docs00.json").write_text(text)
    with pytest.raises(InputError, match=said):
        expand(documents, None, None, [tmp_path / "deepct"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_without_documents_and_a_broken_zip_are_refused(documents, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files named docs00.json"):
        list(weighted_texts(documents, tmp_path / "empty"))
    (tmp_path / "half.zip").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(InputError, match="is the download complete"):
        list(weighted_texts(documents, tmp_path / "half.zip"))


@pytest.mark.parametrize(
    "record",
    [
        '{"id": "a b", "contents": "x"}',
        '{"id": true, "contents": "x"}',
        '{"id": "0", "contents": 5}',
        '{"id": "0", "contents": "\\ud800"}',
        '{"id": "0", "contents": "\\u0000"}',
        "[" * 100_000,
    ],
)
def test_a_record_of_other_kinds_is_named(documents, tmp_path, record):
    (tmp_path / "deepct").mkdir()
    (tmp_path / "deepct" / "docs00.json").write_text(record + "\n")
    with pytest.raises(InputError, match=r"docs00\.json line 1: expected id and contents"):
        list(weighted_texts(documents, tmp_path / "deepct"))


def test_a_file_in_two_folders_and_an_encrypted_one_are_refused(documents, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/docs00.json", lines(d0="zero"))
        archive.writestr("y/docs00.json", lines(d1="one"))
    with pytest.raises(InputError, match=r"a\.zip: a file is there twice"):
        list(weighted_texts(documents, tmp_path / "a.zip"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("docs00.json", lines(d0="zero"))
    data = bytearray((tmp_path / "b.zip").read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(InputError, match=r"b\.zip: 'docs00\.json' is encrypted"):
        list(weighted_texts(documents, tmp_path / "b.zip"))


def test_long_texts_are_held_a_few_at_a_time(documents, published, monkeypatch):
    whole = list(weighted_texts(documents, published))
    monkeypatch.setattr("epic.first_stage.deepct.LETTERS_AT_A_TIME", 1)
    asked = []
    monkeypatch.setattr(documents, "unknown", lambda ids: asked.append(list(ids)) or [])
    assert list(weighted_texts(documents, published)) == whole and asked == [["0"], ["1"], ["2"]]


def test_shards_are_read_one_after_the_other_and_a_passage_in_two_of_them_is_refused(documents, tmp_path):
    shards = [tmp_path / f"{place}-of-3" for place in (1, 2, 3)]
    for shard, text in zip(shards, (lines(d0="a"), "", lines(d2="c", d3="d")), strict=True):
        shard.mkdir()
        (shard / "docs00.json").write_text(text)
    assert list(weighted_texts(documents, *shards)) == [("0", "a"), ("2", "c"), ("3", "d")]
    (shards[1] / "docs00.json").write_text(lines(d0="b"))
    with pytest.raises(InputError, match="2-of-3: docs00.json line 1: passage 0 is given twice"):
        list(weighted_texts(documents, *shards))


def test_a_file_a_folder_of_files_and_the_folders_of_shards_are_told_apart(tmp_path):
    (tmp_path / "1-of-2").mkdir()
    (tmp_path / "2-of-2").mkdir()
    (tmp_path / "docs00.json").touch()
    shards = [str(tmp_path / "1-of-2"), str(tmp_path / "2-of-2")]
    assert sources_of(shards) == [tmp_path / "1-of-2", tmp_path / "2-of-2"] and sources_of(shards[:1]) == [tmp_path / "1-of-2"]
    assert sources_of([str(tmp_path / "docs00.json")]) == [tmp_path] and sources_of([]) == []
    assert sources_of(str(tmp_path / "a.zip")) == [tmp_path / "a.zip"]
