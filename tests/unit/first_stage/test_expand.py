"""Predicted queries: docTTTTTquery's files, matched by position and counted."""

import gzip
import io
import json
import tarfile
import zipfile

import pytest

from epic.documents import Documents
from epic.expand import expand, source_of
from epic.files import InputError
from epic.predictions import predictions

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


def queries_of(source, samples):
    return [prediction.queries for prediction in predictions(source, samples)]


def contents(out):
    return [json.loads(line) for line in (out / "docs-000.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_passage_is_followed_by_its_predicted_queries(documents, samples, tmp_path):
    expand(documents, samples, 2, None, tmp_path / "out")
    found = contents(tmp_path / "out")
    assert [line["id"] for line in found] == ["0", "1", "2", "3"]
    assert found[2]["contents"] == "deux café s0 d2 s1 d2"
    assert json.loads((tmp_path / "out" / "count.json").read_text()) == {"documents": 4, "with_text": 4, "absent": 0}


def test_only_the_first_samples_are_used(samples):
    assert queries_of(samples, 1) == ["s0 d0", "s0 d1", "s0 d2", "s0 d3"]


def test_a_zip_is_read_like_a_folder(samples, tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for path in samples.iterdir():
            archive.write(path, f"predicted/{path.name}")
            archive.writestr(f"__MACOSX/predicted/._{path.name}", "what macOS adds to a zip")
    assert queries_of(tmp_path / "p.zip", 2) == queries_of(samples, 2)


def test_without_predictions_the_passage_stands_alone_and_empty_ones_are_counted(documents, tmp_path):
    expand(documents, None, None, None, tmp_path / "out")
    assert contents(tmp_path / "out")[1]["contents"] == "one"
    assert json.loads((tmp_path / "out" / "count.json").read_text()) == {"documents": 4, "with_text": 3, "absent": 0}


@pytest.mark.parametrize(("lines", "said"), [(0, "for 3 passages"), (2, "for 5 passages"), (5, "for 8 passages")])
def test_predictions_for_another_number_of_passages_are_refused(documents, samples, tmp_path, lines, said):
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * lines)
    with pytest.raises(InputError, match=f"{said}, but the collection has 4"):
        expand(documents, samples, 2, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_surplus_predictions_are_noticed_wherever_files_end(documents, samples, tmp_path, monkeypatch, size):
    monkeypatch.setattr("epic.expand.DOCS_PER_FILE", size)
    for sample in range(2):
        (samples / NAME.format(sample, 1)).write_text("more\n" * 4)
    with pytest.raises(InputError, match="for 7 passages, but the collection has 4"):
        expand(documents, samples, 2, None, tmp_path / "out")


def test_a_sample_that_ends_early_is_named(documents, samples, tmp_path):
    (samples / NAME.format(1, 0)).write_text("only one\n")
    with pytest.raises(InputError, match=r"sample001\.txt000-1004000 ends after line 1"):
        expand(documents, samples, 2, None, tmp_path / "out")


def test_a_missing_sample_and_a_file_that_is_no_zip_are_named(samples, tmp_path):
    with pytest.raises(InputError, match="chunk 000 lacks sample 002"):
        queries_of(samples, 3)
    (tmp_path / "half.zip").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(InputError, match="is the download complete"):
        queries_of(tmp_path / "half.zip", 1)


def test_the_source_is_found_from_its_files(samples, tmp_path):
    assert source_of([]) is None
    assert source_of(sorted(map(str, samples.iterdir()))) == samples
    assert source_of(str(tmp_path / "p.zip")) == tmp_path / "p.zip"


def test_a_lone_carriage_return_is_no_line_end(samples):
    (samples / NAME.format(0, 1)).write_bytes(b"s0\rd3\n")
    assert len(queries_of(samples, 2)) == 4


def records(queries=("a", "b", "c"), ids=("0", "1", "2", "3")):
    return "".join(json.dumps({"id": i, "predicted_queries": [f"{query}{i}" for query in queries]}) + "\n" for i in ids)


@pytest.mark.parametrize("name", ["d2q.jsonl", "d2q.jsonl.gz"])
def test_json_lines_are_read_and_their_ids_are_checked(documents, tmp_path, name):
    opened = gzip.open if name.endswith("gz") else open
    with opened(tmp_path / name, "wt") as stream:
        stream.write(records())
    expand(documents, tmp_path / name, 2, None, tmp_path / "out")
    assert [line["contents"] for line in contents(tmp_path / "out")] == ["zero a0 b0", "one a1 b1", "deux café a2 b2", " a3 b3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (records(ids=("0", "2", "1", "3")), "line 2: passage 2 stands where 1 is expected"),
        (records(queries=("a",)), "line 1: 1 predicted queries of the 2 asked for"),
        (records() + '{"id": "4"}\n', "line 5: expected id and predicted_queries"),
        (records(ids=("0", "1")), "for 2 passages, but the collection has 4"),
    ],
)
def test_json_lines_that_do_not_fit_are_refused_by_line(documents, tmp_path, text, said):
    (tmp_path / "d2q.jsonl").write_text(text)
    with pytest.raises(InputError, match=said):
        expand(documents, tmp_path / "d2q.jsonl", 2, None, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def joined(path, text, member="pred-test_topk10.txt"):
    """doc2query's file: plain, or in a tar as it is published."""
    if path.suffix == ".txt":
        path.write_text(text, encoding="utf-8")
        return path
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("name", ["pred-test_topk10.txt", "msmarco-passage-pred-test_topk10.tar.gz"])
def test_doc2querys_file_has_one_line_a_passage(documents, tmp_path, name):
    source = joined(tmp_path / name, "what is zero\n\nwas ist zwei é\nthree\n")
    expand(documents, source, None, None, tmp_path / "out")
    assert [line["contents"] for line in contents(tmp_path / "out")] == [
        "zero what is zero",
        "one ",
        "deux café was ist zwei é",
        " three",
    ]
    with pytest.raises(InputError, match="samples must be null"):
        expand(documents, source, 10, None, tmp_path / "other")


def test_a_tar_without_predictions_and_one_that_is_cut_off_are_refused(documents, tmp_path):
    with pytest.raises(InputError, match="holds no file named like pred-test_topk10.txt"):
        expand(documents, joined(tmp_path / "a.tar.gz", "x\n", "README"), None, None, tmp_path / "out")
    whole = joined(tmp_path / "b.tar.gz", "".join(f"{i * 7919 % 1000003}\n" for i in range(20000)))
    whole.write_bytes(whole.read_bytes()[:3000])
    with pytest.raises(InputError, match="cannot be read .*is the download complete"):
        list(predictions(whole, None))


def test_samples_without_a_number_are_refused(samples):
    with pytest.raises(InputError, match="samples must be their number"):
        list(predictions(samples, None))
