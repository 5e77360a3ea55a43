"""JSON beside a model: read, or refused by its name."""

import pytest

from epic.core.files import InputError
from epic.model.facts import naming, read_facts


def test_keys_and_values_are_read(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert read_facts(tmp_path / "config.json") == {"model_type": "bert"}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', '{"a": 1, "a": 2}', '{"a": NaN}'])
def test_anything_else_is_refused_by_its_name(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(InputError, match=f"^{tmp_path}/config.json: .*damaged"):
        read_facts(tmp_path / "config.json")


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path):
    (tmp_path / "folder.json").mkdir()
    for name in ("nowhere.json", "folder.json"):
        with pytest.raises(InputError, match=f"{name}: there is no such file; fetch the folder anew, or make it again"):
            read_facts(tmp_path / name)


@pytest.mark.parametrize(
    ("said", "expected"), [("no such size", "/a/b/config.json: no such size"), ("/a/b/other: no", "/a/b/other: no")]
)
def test_a_refusal_is_named_unless_it_names_the_folder_itself(said, expected):
    with pytest.raises(InputError) as error, naming("/a/b", "config.json"):
        raise InputError(said)
    assert str(error.value) == expected
    with pytest.raises(KeyError), naming("/a/b"):
        raise KeyError("no refusal")
