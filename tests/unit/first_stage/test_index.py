"""Indexes: counted after Anserini has built them. tests/parity/test_bm25.py builds real ones."""

import json
import zlib

import pytest

from epic.core.files import InputError
from epic.first_stage.index import document_count, index
from epic.first_stage.lucene_files import FOOTER

SEGMENTS = b"terms" + FOOTER + zlib.crc32(b"terms" + FOOTER).to_bytes(8, "big")


@pytest.fixture
def collection(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "count").write_text(json.dumps({"documents": 5, "with_text": 4, "absent": 0}))
    return tmp_path / "docs"


def answering(monkeypatch, counted, said="Indexing Complete!", segments=SEGMENTS):
    """Stand in for Anserini: it writes a segment, and says how many documents there are."""
    asked = []

    def anserini(main, *arguments, memory_mb, work=0):
        asked.append((main, memory_mb, arguments))
        if main == "index.IndexCollection":
            draft = arguments[arguments.index("-index") + 1]
            draft.mkdir()
            (draft / "segments_1").write_bytes(segments)
            return said
        return counted

    monkeypatch.setattr("epic.first_stage.index.anserini", anserini)
    return asked


def test_the_documents_with_text_must_all_be_there(collection, tmp_path, monkeypatch):
    asked = answering(monkeypatch, "Index statistics\ndocuments:             4\ndocuments (non-empty): 3\n")
    index(collection, 3, 700, tmp_path / "index")
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["segments_1"]
    (main, memory, given), counting = asked
    assert (main, memory) == ("index.IndexCollection", 700) and counting[:2] == ("index.IndexReaderUtils", 700)
    options = dict(zip(given[:-1:2], given[1::2], strict=True))
    assert options["-input"] == collection and options["-threads"] == 3 and options["-collection"] == "JsonCollection"
    assert given[-1] == "-optimize"


@pytest.mark.parametrize(("counted", "found"), [("documents: 3\n", 3), ("documents: 5\n", 5), ("no statistics\n", 0)])
def test_another_number_of_documents_is_a_failure_and_leaves_no_index(collection, tmp_path, monkeypatch, counted, found):
    answering(monkeypatch, counted)
    with pytest.raises(RuntimeError, match=f"4 documents were sent to Anserini, {found} are in the index"):
        index(collection, 1, 700, tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


def test_what_lucene_counts_is_found_among_what_it_says(tmp_path, monkeypatch):
    answering(monkeypatch, "documents (non-empty): 7\ntotal terms: 12\ndocuments:\t8\nunique terms: 9\n")
    assert document_count(tmp_path) == 8


ERROR = "2026-01-01 12:00:00,000 ERROR [pool-2-thread-1] index.IndexCollection (IndexCollection.java:1) - No space left on device"


@pytest.mark.parametrize(
    ("said", "segments", "error", "message"),
    [
        (f"Starting\n{ERROR}\nIndexing Complete!", SEGMENTS, RuntimeError, r"docs: Anserini failed: .* ERROR .*No space left"),
        ("Indexing Complete!", SEGMENTS[:-1], InputError, r"segments_1: not as Lucene wrote it"),
    ],
)
def test_errors_that_java_only_prints_and_files_that_are_cut_leave_no_index(
    collection, tmp_path, monkeypatch, said, segments, error, message
):
    answering(monkeypatch, "documents: 4\n", said, segments)
    with pytest.raises(error, match=message):
        index(collection, 1, 700, tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]
