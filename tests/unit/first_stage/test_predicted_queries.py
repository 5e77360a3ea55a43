"""Predicted queries: docTTTTTquery's samples, JSON lines and doc2query's joined lines, read without unpacking."""

import io
import tarfile
import zipfile

import pytest

from epic.core.files import InputError
from epic.first_stage.expand import expand
from epic.first_stage.predicted_queries import predictions
from tests.predicted import NAME, contents


def queries_of(source, samples):
    return [prediction.queries for prediction in predictions(source, samples)]


def test_only_the_first_samples_are_used(samples):
    assert queries_of(samples, 1) == ["s0 d0", "s0 d1", "s0 d2", "s0 d3"]


def test_a_zip_is_read_like_a_folder(samples, tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for path in samples.iterdir():
            archive.write(path, f"predicted/{path.name}")
            archive.writestr(f"__MACOSX/predicted/._{path.name}", "what macOS adds to a zip")
    assert queries_of(tmp_path / "p.zip", 2) == queries_of(samples, 2)


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


def test_a_lone_carriage_return_is_no_line_end(samples):
    (samples / NAME.format(0, 1)).write_bytes(b"s0\rd3\n")
    assert len(queries_of(samples, 2)) == 4


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
    with pytest.raises(InputError, match=r"b\.tar\.gz: pred-test_topk10\.txt after line 0: damaged gzip"):
        list(predictions(whole, None))


def test_samples_without_a_number_are_refused(samples):
    with pytest.raises(InputError, match="samples must be their number"):
        list(predictions(samples, None))


def test_json_lines_give_ids_and_the_first_queries_of_each_passage(tmp_path):
    lines = ['{"id": 7, "predicted_queries": [" what is é ", "who", "why"]}', '{"id": "x", "predicted_queries": ["a", "b"]}']
    (tmp_path / "d2q.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert list(predictions(tmp_path / "d2q.jsonl", 2)) == [("7", "what is é who"), ("x", "a b")]
    assert list(predictions(tmp_path / "d2q.jsonl", 0)) == [("7", ""), ("x", "")]


def test_chunks_are_taken_by_number_whatever_the_order_of_their_files(samples):
    for sample in range(2):
        (samples / NAME.format(sample, 10)).write_text(f"s{sample} d5\n")
        (samples / NAME.format(sample, 2)).write_text(f"s{sample} d4\n")
    (samples / "README.txt").write_text("not a sample")
    assert queries_of(samples, 2)[-3:] == ["s0 d3 s1 d3", "s0 d4 s1 d4", "s0 d5 s1 d5"]


def zipped(path, *names_and_texts, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in names_and_texts:
            archive.writestr(name, text)
    return path


def test_a_sample_that_is_there_twice_is_refused_in_whatever_folder(tmp_path):
    name = NAME.format(0, 0)
    source = zipped(tmp_path / "p.zip", (f"a/{name}", "one\n"), (f"b/{name}", "two\n"))
    with pytest.raises(InputError, match=r"p\.zip: sample 000 of chunk 000 is there twice"):
        queries_of(source, 1)


def test_a_name_with_a_line_break_at_its_end_is_another_name(tmp_path):
    with pytest.raises(InputError, match="no files named"):
        queries_of(zipped(tmp_path / "p.zip", (NAME.format(0, 0) + "\n", "one\n")), 1)


def test_an_encrypted_or_exotic_zip_is_refused_by_name(tmp_path):
    data = zipped(tmp_path / "p.zip", (NAME.format(0, 0), "one\n")).read_bytes()
    for place, value, said in ((8, 1, "is encrypted"), (10, 99, "cannot be read .NotImplementedError")):
        changed = bytearray(data)
        changed[data.index(b"PK\x01\x02") + place] = value
        changed[data.index(b"PK\x03\x04") + place - 2] = value
        (tmp_path / "q.zip").write_bytes(changed)
        with pytest.raises(InputError, match=rf"q\.zip.*{said}"):
            queries_of(tmp_path / "q.zip", 1)


def test_a_zip_of_a_line_without_end_takes_no_memory(tmp_path, monkeypatch):
    source = zipped(tmp_path / "p.zip", (NAME.format(0, 0), b"\0" * 3_000_000), method=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match=r"line 1 of chunk 000 has zero bytes or no end"):
        queries_of(source, 1)
    monkeypatch.setattr("epic.core.archives.ALWAYS", 1000)
    with pytest.raises(InputError, match="no true archive does"):
        queries_of(source, 1)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_links_and_devices_in_a_tar_are_no_predictions(tmp_path, kind):
    with tarfile.open(tmp_path / "p.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("pred-test_topk10.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(InputError, match="holds no file named like"):
        list(predictions(tmp_path / "p.tar.gz", None))


def test_bytes_that_are_no_text_are_named_with_their_line(samples, tmp_path):
    (samples / NAME.format(1, 0)).write_bytes(b"fine\n\xff\nfine\n")
    with pytest.raises(InputError, match="chunk 000 is not UTF-8 after line"):
        queries_of(samples, 2)
    (tmp_path / "pred.txt").write_bytes(b"fine\nwas \xff\n")
    with pytest.raises(InputError, match=r"pred\.txt line 2: not UTF-8"):
        list(predictions(tmp_path / "pred.txt", None))
    joined(tmp_path / "p.tar.gz", "fine\na\0b\n")
    with pytest.raises(InputError, match=r"p\.tar\.gz: pred-test_topk10\.txt line 2: a zero byte"):
        list(predictions(tmp_path / "p.tar.gz", None))


@pytest.mark.parametrize(
    "record",
    [
        '{"id": [1], "predicted_queries": ["a"]}',
        '{"id": "a b", "predicted_queries": ["a"]}',
        '{"id": "1", "predicted_queries": "ab"}',
        '{"id": "1", "predicted_queries": [1]}',
        "[" * 100_000,
    ],
)
def test_a_record_of_other_kinds_is_named(tmp_path, record):
    (tmp_path / "d2q.jsonl").write_text(record + "\n")
    with pytest.raises(InputError, match=r"d2q\.jsonl line 1: expected id and predicted_queries"):
        list(predictions(tmp_path / "d2q.jsonl", 1))
