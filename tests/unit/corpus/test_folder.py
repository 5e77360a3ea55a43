"""Folders of one's own: which files they hold, where they are looked for, and what is refused."""

from pathlib import Path

import pytest

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.corpus.folder import dataset_of, file_of, files_of, folder_of, line_of, resolve
from tests.conftest import ROOT


def test_a_missing_folder_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=str(tmp_path)):
        resolve("nowhere")


def test_a_folder_that_a_rule_makes_need_not_exist_and_keeps_its_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = folder_of("path:results/mini/boolq#dev")
    assert [str(path) for path in before] == [
        "results/mini/boolq/docs.tsv",
        "results/mini/boolq/queries.dev.tsv",
        "results/mini/boolq/qrels.dev.txt",
        "results/mini/boolq/docpairs.dev.tsv",
    ]
    (tmp_path / "results" / "mini" / "boolq").mkdir(parents=True)
    (tmp_path / "results" / "mini" / "boolq" / "docs.tsv").write_text("1\ta\n")
    assert folder_of("path:results/mini/boolq#dev") == before and len(Documents("path:results/mini/boolq")) == 1


@pytest.mark.parametrize("extra", ["docs.jsonl", "docs.tsv.gz", "queries.test.jsonl.gz", "qrels.test.txt.gz"])
def test_two_files_of_one_kind_are_refused_by_name(folder, extra):
    (folder / extra).write_bytes(b"")
    with pytest.raises(InputError, match=rf"{folder.name} has .* and .*{extra}|{folder.name} has {extra} and .*; keep one"):
        folder_of(f"path:{folder}#test")


def test_an_id_of_ir_datasets_is_no_folder():
    assert folder_of("msmarco-passage/dev/small") is None and files_of("msmarco-passage", "docs") == []


def test_only_what_has_splits_is_looked_for_in_one(folder):
    found = folder_of(f"path:{folder}#test")
    names = "docs.tsv", "queries.test.tsv", "qrels.test.txt", "docpairs.test.tsv"
    assert [path.name for path in found] == list(names) and found.docs.exists() and not found.docpairs.exists()
    assert folder_of(f"path:{folder}").queries.name == "queries.tsv"
    assert files_of(f"path:{folder}#test", "qrels", "docs") == [str(folder / "qrels.test.txt"), str(folder / "docs.tsv")]


def test_compressed_files_and_json_lines_are_found_under_their_own_names(folder):
    (folder / "docs.tsv").rename(folder / "docs.jsonl")
    (folder / "qrels.test.txt").rename(folder / "qrels.test.txt.gz")
    assert [path.name for path in folder_of(f"path:{folder}#test")[::2]] == ["docs.jsonl", "qrels.test.txt.gz"]


def test_the_working_directory_goes_before_the_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve("workflow/resources/tiny") == ROOT / "workflow" / "resources" / "tiny"
    (tmp_path / "workflow" / "resources" / "tiny").mkdir(parents=True)
    assert resolve("workflow/resources/tiny") == Path("workflow/resources/tiny")
    assert resolve(str(ROOT / "docs")) == ROOT / "docs"


def test_what_moves_with_the_working_directory_has_the_same_name_afterwards(tmp_path, monkeypatch):
    (tmp_path / "here" / "own").mkdir(parents=True)
    (tmp_path / "here" / "link").symlink_to(tmp_path / "beside")
    (tmp_path / "beside").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, expected in (
        ("own", "own"),
        ("./own/", "own"),
        (str(tmp_path / "here" / "own"), "own"),  # typed as an absolute path
        ("link", "link"),  # wherever it leads
        ("../beside", "../beside"),  # named from here
        (str(tmp_path / "beside"), str(tmp_path / "beside")),  # named from nowhere else
    ):
        assert str(resolve(name)) == expected
    assert str(resolve("docs/model.md")) == str(ROOT / "docs" / "model.md")  # the repository lies elsewhere


@pytest.mark.parametrize(("value", "columns", "line"), [("q2", (0,), 2), ("1", (2,), 2), ("1", (3,), 1), ("x7", (0, 2), 3)])
def test_the_first_line_with_a_value_in_a_column_is_named(folder, value, columns, line):
    path = folder / "qrels.test.txt"
    assert line_of(path, value, *columns) == f"{path} line {line}"


def test_what_a_stage_makes_lies_in_the_results_of_its_experiment():
    assert dataset_of("made:boolq#dev", "mini") == "path:results/mini/boolq#dev"
    assert dataset_of("path:mine", "mini") == "path:mine" and dataset_of("msmarco-passage", "mini") == "msmarco-passage"


def test_a_file_is_one_that_was_fetched_or_one_that_is_there(folder):
    assert file_of("download:runs.tar.gz", lambda name: f"results/mine/{name}") == "results/mine/runs.tar.gz"
    assert file_of(f"path:{folder}/docs.tsv", None) == str(folder / "docs.tsv")
    with pytest.raises(InputError, match="path:no/such/run: not found; looked for [^;]*$"):
        file_of("path:no/such/run", None)
    with pytest.raises(InputError, match="path:no/such/run: not found; looked for .*; it is the run of dph"):
        file_of("path:no/such/run", None, "it is the run of dph")
