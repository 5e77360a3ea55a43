"""Places outside of the working directory are not shown."""

import json
from pathlib import Path

import pytest

from epic.core import places
from epic.core.files import ROOT
from epic.core.places import from_here, from_home, placeless, placeless_config


@pytest.fixture
def home(monkeypatch, tmp_path):
    folder = tmp_path / "home" / "jane-doe"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder / "project")
    return folder


def test_a_path_is_shown_from_the_working_directory_or_by_its_last_part(home):
    shown = {
        "path:my": "path:my",
        "path:my/deep#test": "path:my/deep#test",
        f"path:{home}/project/my#dev": "path:my#dev",
        f"path:{ROOT}/workflow/resources/tiny": "path:workflow/resources/tiny",
        f"path:{home}/coll#test": "path:.../coll#test",
        f"path:{home}#test": "path:~#test",
        "path:..": "path:~",
        "path:~": "path:~",
        "path:../coll": "path:.../coll",
        "path:my/../../coll/": "path:.../coll",
        "path:~/coll": "path:.../coll",
        "path:/data/x.zip": "path:.../x.zip",
        "msmarco-passage/dev": "msmarco-passage/dev",
        "download:epic.p": "download:epic.p",
        "see path:/data": "see path:/data",
    }
    for source, expected in shown.items():
        assert placeless(source) == expected, source
    assert placeless({"a": [{"b": f"path:{home}/x"}, 3, None, True]}) == {"a": [{"b": "path:.../x"}, 3, None, True]}


def test_settings_are_not_changed_in_place(home):
    settings = {"data": {"documents": f"path:{home}/x"}}
    placeless(settings)
    assert settings == {"data": {"documents": f"path:{home}/x"}}


@pytest.mark.parametrize("name", ["/home/jane-doe/models/bert", "/bert"])
def test_an_encoders_config_does_not_say_where_it_was_trained(name):
    config = {"_name_or_path": name, "model_type": "bert"}
    assert placeless_config(config) == {"_name_or_path": "bert", "model_type": "bert"} and config["_name_or_path"] == name
    for kept in ("google-bert/bert-base-uncased", "bert-base-uncased", "", None, 3):
        assert placeless_config({"_name_or_path": kept}) == {"_name_or_path": kept}
    assert placeless_config({}) == {}


def test_a_file_of_the_repository_is_named_from_here_where_both_move_together(tmp_path, monkeypatch):
    for folder in ("repository/mine", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(places, "ROOT", tmp_path / "repository")
    claims = tmp_path / "repository" / "workflow" / "claims.yaml"
    for folder, expected in (
        ("repository", "workflow/claims.yaml"),
        ("repository/mine", "../workflow/claims.yaml"),
        (".", "repository/workflow/claims.yaml"),
        ("elsewhere", str(claims)),
    ):
        monkeypatch.chdir(tmp_path / folder)
        assert str(from_here(claims)) == expected
    monkeypatch.chdir(tmp_path / "repository" / "mine")
    assert from_here(tmp_path / "elsewhere") == tmp_path / "elsewhere"


def test_a_collection_below_the_home_folder_is_found_without_its_name(home):
    from epic.corpus.folder import resolve

    (home / "coll").mkdir()
    (home / "project" / "mine").mkdir()
    assert from_home(f"path:{home}/coll#test") == "path:~/coll#test" and resolve("~/coll") == home / "coll"
    assert from_home(f"path:{home}/project/mine") == "path:mine" and str(resolve("mine")) == "mine"
    for source in ("path:coll", "path:/data/x", f"path:{home}/a/../coll", "msmarco-passage", "/etc/passwd"):
        assert from_home(source) == source


def test_the_manifest_does_not_name_the_home_folder_and_still_opens(home):
    from epic.corpus.data import prepare_documents
    from epic.corpus.documents import open_documents

    (home / "coll").mkdir()
    (home / "coll" / "docs.tsv").write_text("1\tone\n2\ttwo\n")
    prepare_documents(f"path:{home}/coll", 2, home / "manifest.json")
    assert json.loads((home / "manifest.json").read_text())["documents"] == "path:~/coll"
    assert open_documents(home / "manifest.json").texts(["2"]) == ["two"]


def test_where_the_home_folder_is_not_known_nothing_is_shortened(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/")
    assert from_home(f"path:{tmp_path}") == f"path:{tmp_path}" and Path.cwd() != tmp_path
