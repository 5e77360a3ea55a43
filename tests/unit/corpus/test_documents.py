"""Passages by id and by position, from a store that is built once and read anew when the file changes."""

import os

import pytest

from epic.core import seals
from epic.core.files import InputError
from epic.corpus.data import prepare_documents
from epic.corpus.documents import Documents, open_documents
from tests.seeded import run_in


def test_documents_come_by_id_and_by_position(prepared):
    documents = prepared()
    assert len(documents) == 3
    assert documents.texts(["x7", "1", "1"]) == ["", "café olé", "café olé"]
    assert list(documents.span(range(1, 3))) == [("1", "café olé"), ("x7", "")]
    assert list(documents.span(range(1, 1))) == []
    assert documents.unknown(id_ for id_ in ("1", "9", "8")) == ["8", "9"]


def test_positions_are_those_of_span_and_an_unknown_id_has_none(prepared):
    documents = prepared()
    ids = [doc_id for doc_id, _ in documents.span(range(3))]
    assert documents.positions(ids) == [0, 1, 2] and documents.positions(["x7", "0", "x7"]) == [2, 0, 2]
    assert documents.positions([]) == []
    with pytest.raises(InputError, match="no document 9"):
        documents.positions(["0", "9"])


@pytest.mark.parametrize("doc_id", ["x70", "00", "x7\0", "1é", "", "x" * 300])
def test_an_id_that_begins_like_one_is_unknown(prepared, doc_id):
    documents = prepared()
    assert documents.unknown(["1", doc_id]) == [doc_id]
    with pytest.raises(InputError, match="has no document"):
        documents.positions(["1", doc_id])


def test_the_folder_holds_all_of_the_store(collection_of):
    documents = collection_of("a", "b")
    assert documents.folder.is_dir() and "bin" in {path.name for path in documents.folder.iterdir()}


def test_an_unknown_document_is_an_error(prepared):
    with pytest.raises(InputError, match="no document 9"):
        prepared().texts(["0", "9"])


def test_an_edited_collection_is_read_anew(folder, prepared):
    prepared()
    (folder / "docs.tsv").write_text("0\tchanged passage\n1\tb\nx7\tc\n")
    assert Documents(f"path:{folder}").texts(["0"]) == ["changed passage"]


def test_a_folder_without_documents_is_no_collection(tmp_path):
    with pytest.raises(InputError, match="has no documents"):
        prepare_documents(f"path:{tmp_path}", 1, tmp_path / "manifest.json")


def test_a_file_that_was_refused_is_read_once_it_is_mended(folder, prepared):
    (folder / "docs.tsv").write_text("0\ta\n1 b\nx7\tc\n")
    with pytest.raises(InputError, match="line 2"):
        prepared()
    (folder / "docs.tsv").write_text("0\ta\n1\tb\nx7\tc\n")
    assert prepared().texts(["1"]) == ["b"]


def test_a_compute_job_never_downloads(tmp_path):
    code = "from epic.corpus.documents import Documents\nDocuments('msmarco-passage')"
    run = run_in(tmp_path, code)
    assert run.returncode and "InputError: the documents of msmarco-passage are not built in" in run.stderr
    assert "set IR_DATASETS_HOME" in run.stderr and "msmarco.z22" not in run.stderr


def test_a_manifest_of_another_collection_is_refused(folder, prepared):
    prepared()
    (folder / "docs.tsv").write_text("0\tone is left\n")
    with pytest.raises(InputError, match=r"manifest\.json speaks of 3 documents, path:.* has 1"):
        open_documents(folder / "manifest.json")


@pytest.mark.parametrize("size", [1, 2, 10_000])
def test_unknown_ids_are_found_however_many_are_looked_up_at_once(prepared, monkeypatch, size):
    monkeypatch.setattr("epic.corpus.documents.LOOKED_UP_AT_ONCE", size)
    assert prepared().unknown(["9", "x7", "ü", "0", "9", "1", "-1"]) == ["-1", "9", "ü"]
    assert prepared().unknown([]) == []


@pytest.mark.parametrize("name", ["bin", "bin.pos", "idx.doc_id.pos"])
def test_a_store_that_was_cut_off_is_built_anew(collection_of, name):
    texts = [f"passage number {i}" for i in range(50)]
    documents = collection_of(*texts)
    path = documents.folder / name
    os.truncate(path, path.stat().st_size // 2)
    again = Documents(documents.dataset)
    assert len(again) == 50 and again.texts(["49", "0"]) == [texts[49], texts[0]]
    assert [text for _, text in again.span(range(50))] == texts


@pytest.mark.parametrize("name", ["bin", "bin.pos", "idx.doc_id.pos", "idx.doc_id.key"])
def test_a_store_with_a_flipped_bit_and_kept_times_is_built_anew(collection_of, name):
    texts = [f"passage number {i}" for i in range(50)]
    documents = collection_of(*texts)
    path = documents.folder / name
    state, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    again = Documents(documents.dataset)
    assert [text for _, text in again.span(range(50))] == texts == again.texts([str(i) for i in range(50)])


def test_a_store_of_a_dataset_that_would_be_downloaded_is_refused_when_it_differs(collection_of, monkeypatch):
    documents = collection_of("a", "b")
    monkeypatch.setattr("epic.corpus.documents.folder_of", lambda name: None)
    (documents.folder / "bin").write_bytes(b"")
    with pytest.raises(
        InputError, match=r"bin has 0 bytes; .* were written by the stage data; build it again: snakemake .*--forcerun data"
    ):
        Documents(documents.dataset)


def test_a_store_whose_field_names_were_damaged_is_refused_by_its_place(collection_of):
    documents = collection_of("a", "b")
    (documents.folder / "bin.meta").write_text("doc_jd text")
    with pytest.raises(InputError, match="was damaged, or is of another version"):
        Documents(documents.dataset)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # such a store fails once more when it is freed
@pytest.mark.parametrize(
    ("name", "left"),
    [("idx.doc_id.meta", None), ("idx.doc_id.key", 0.5), ("bin.pos", 0.0), ("bin", 0.999)],  # how much of a file is left
)
def test_a_build_that_was_killed_while_a_file_was_written_is_begun_anew(collection_of, name, left):
    documents = collection_of(*(f"passage number {i}" for i in range(50)))
    path = documents.folder / name
    if left is None:
        path.unlink()  # ir_datasets writes it last, after the ids and their positions
    else:
        os.truncate(path, int(path.stat().st_size * left))
    assert Documents(documents.dataset).texts(["49", "0"]) == ["passage number 49", "passage number 0"]


def test_a_store_that_was_built_twice_is_built_anew(collection_of):
    """As two processes at once would build it; one whose documents have a few ids in common is whole."""
    documents = collection_of("a", "b", "c")
    lookup, rows = documents._store.lookup, list(documents._store)
    seals.unseal([documents.folder])
    with lookup.transaction() as transaction:
        transaction.add(rows[0])
    shared = Documents(documents.dataset)
    assert len(shared) == 4 and shared.repeated == 1 and shared.positions(["0", "1", "2"]) == [3, 1, 2]
    assert list(shared.span(range(4))) == [("0", ""), ("1", "b"), ("2", "c"), ("0", "a")]
    seals.unseal([documents.folder])
    with shared._store.lookup.transaction() as transaction:
        for row in rows[1:]:
            transaction.add(row)
    again = Documents(documents.dataset)
    assert len(again) == 3 and again.repeated == 0 and again.texts(["0", "2"]) == ["a", "c"]


def test_a_field_of_a_folder_is_its_text(folder, prepared, tmp_path):
    prepared()
    assert Documents(f"path:{folder}", "text").texts(["1"]) == ["café olé"]
    with pytest.raises(InputError, match="have no field title; there are text, or null"):
        Documents(f"path:{folder}", "title")
    prepare_documents(f"path:{folder}", 3, tmp_path / "m.json", "text")
    assert open_documents(tmp_path / "m.json").field == "text"
