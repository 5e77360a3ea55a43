"""Runs: taken exactly as Anserini orders them, and held against the queries. tests/parity/test_bm25.py searches real indexes."""

import json
import shutil
import zlib

import pytest

from epic.core.files import InputError
from epic.corpus.query_counts import Counts, write_counts
from epic.first_stage.lucene_files import FOOTER
from epic.first_stage.retrieve import retrieve

RUN = "q2 Q0 b 1 3.5 Anserini\nq2 Q0 a 2 3.5 Anserini\nq1 Q0 c 1 9.1 Anserini\n"
FAILED = 'Exception in thread "pool-3-thread-1" java.io.IOException: no more\n\tat io.anserini.Some.thing(Some.java:1)\n'


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Stand in for Anserini, which writes a run, and for the searcher that asks again; returns what both were asked."""
    (tmp_path / "q.tsv").write_text("q1\tcafé\nq2\ttwo\nq3\tnot found\n", encoding="utf-8")
    write_counts(tmp_path / "q.json", Counts(3, 1, 1, ""))
    (tmp_path / "index").mkdir()
    write_segments(tmp_path / "index", b"contents")

    def given(run, said="done", matching=(), hits=1000):
        asked = []

        def anserini(main, *arguments, memory_mb, work=0, into, clauses):
            asked.append((main, memory_mb, arguments, clauses))
            into.write_text(run)
            return said

        class Searcher:
            def __init__(self, *arguments):
                asked.append(arguments)

            def search(self, text, hits):
                asked.append((text, hits))
                return ["a hit"] if text in matching else []

            def close(self):
                asked.append("closed")

        monkeypatch.setattr("epic.first_stage.retrieve.anserini", anserini)
        monkeypatch.setattr("epic.first_stage.retrieve.Searcher", Searcher)
        paths = tmp_path / "index", tmp_path / "q.tsv", tmp_path / "q.json"
        retrieve(*paths, 0.82, 0.68, hits, 4, 512, tmp_path / "out.run", tmp_path / "out.json")
        return asked

    return given


def test_the_run_is_taken_byte_for_byte_with_its_ties_and_without_queries_that_found_nothing(answer, tmp_path):
    answer(RUN)
    assert (tmp_path / "out.run").read_text() == RUN


def test_queries_that_match_nothing_are_asked_again_and_written_down(answer, tmp_path):
    _, *again = answer(RUN)
    assert again == [(tmp_path / "index", 0.82, 0.68), ("not found", 1), "closed"]
    assert json.loads((tmp_path / "out.json").read_text()) == {"answered": 2, "hits": 3, "without_hits": ["q3"]}


def test_nothing_is_asked_again_where_all_queries_have_hits(answer, tmp_path):
    assert len(answer(RUN + "q3 Q0 a 1 1.0 Anserini\n")) == 1
    assert json.loads((tmp_path / "out.json").read_text())["without_hits"] == []


def test_the_parameters_reach_anserini(answer, tmp_path):
    main, memory, given, clauses = answer(RUN)[0]
    options = {name: given[given.index(name) + 1] for name in ("-index", "-topics", "-bm25.k1", "-bm25.b", "-hits", "-threads")}
    assert (main, memory, clauses) == ("search.SearchCollection", 512, 1024) and "-bm25" in given
    assert list(options.values()) == [tmp_path / "index", tmp_path / "q.tsv", 0.82, 0.68, 1000, 4]


def test_a_query_may_have_as_many_terms_as_it_has_characters(answer, tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tone\nq2\ttwo\nq3\t" + "word " * 2000 + "end\n")
    assert answer(RUN)[0][-1] == 10_003


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (RUN + "q9 Q0 a 1 1.0 Anserini\n", InputError, r"out\.run: the run answers query q9, which is not in .*q\.tsv"),
        ("q1 Q0 c 2 9.1 Anserini\n", InputError, "rank 2 of query q1 follows rank 0"),
        ("q1 Q0 c 1 9.1\n", InputError, "not a line of a TREC run"),
        (RUN[:-1], InputError, "the last line is cut off"),
        (RUN[:-3], InputError, "the last line is cut off"),
        (RUN.replace("Anserini", "Anserin"), InputError, "line 1: the line ends with 'Anserin', not with Anserini"),
        ("q2 Q0 b 1 3.5 Anserini\nq2 Q0 a 2 3.4 Anserin\n", InputError, "line 2: the line ends with 'Anserin'"),
        ("q1 Q0 c 1 1.0 Anserini\nq1 Q0 d 2 1.5 Anserini\n", InputError, "line 2: score 1.5 of rank 2 of query q1 is higher"),
    ],
)
def test_a_run_that_cannot_be_right_leaves_none(answer, tmp_path, run, error, message):
    with pytest.raises(error, match=message):
        answer(run)
    assert not list(tmp_path.glob("*out*")) and not list(tmp_path.glob(".*"))


def test_more_hits_than_were_asked_for_are_refused(answer, tmp_path):
    answer(RUN, hits=2)
    with pytest.raises(InputError, match="the run has 2 hits of query q2; 1 were asked for"):
        answer(RUN, hits=1)


@pytest.mark.parametrize("run", [RUN, ""])
def test_a_query_that_anserini_lost_is_named_and_nothing_is_written(answer, tmp_path, run):
    with pytest.raises(RuntimeError, match=f"Anserini lost query {'q3' if run else 'q1'}: it has hits, but none in the run"):
        answer(run, matching=("café", "not found"))
    assert not list(tmp_path.glob("*out*"))


def test_an_error_in_java_s_output_fails_and_names_a_query_without_hits(answer, tmp_path):
    with pytest.raises(RuntimeError, match=r"Anserini failed: Exception in thread .*no more; no hits of query q3 \(1 such\)"):
        answer(RUN, said=f"reading\n{FAILED}done\n")
    with pytest.raises(RuntimeError, match=r"Anserini failed: Exception in thread .*no more; see the log"):
        answer(RUN + "q3 Q0 a 1 1.0 Anserini\n", said=FAILED)
    assert not list(tmp_path.glob("*out*"))


def test_no_hits_at_all_are_an_empty_run(answer, tmp_path):
    answer("")
    assert (tmp_path / "out.run").read_bytes() == b""
    assert json.loads((tmp_path / "out.json").read_text()) == {"answered": 0, "hits": 0, "without_hits": ["q1", "q2", "q3"]}


def test_another_number_of_queries_than_was_counted_is_refused(answer, tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tcafé\nq2\ttwo\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.tsv has 2 queries, .*q\.json says 3; one of the two files is damaged"):
        answer(RUN)


def test_a_damaged_index_is_not_searched(answer, tmp_path):
    path = tmp_path / "index" / "segments_1"
    path.write_bytes(path.read_bytes().replace(b"contents", b"contentt"))
    with pytest.raises(InputError, match=r"segments_1: not as Lucene wrote it, its checksum is another; make it again"):
        answer(RUN)


class Killed(BaseException):
    """The end of a job in the middle of its work."""


MANY = {f"q{number}/%20é": f"text {number}" for number in range(7)} | {"\U0001f41d": "bee", "\uffee": "form", "nothing": "zebra"}


@pytest.fixture
def in_parts(tmp_path, monkeypatch):
    """Search ten queries, three at a time, by a stand-in for Anserini that answers in Java's order and may be killed."""
    monkeypatch.setattr("epic.first_stage.retrieve.QUERIES_AT_A_TIME", 3)
    (tmp_path / "q.tsv").write_text("".join(f"{query_id}\t{text}\n" for query_id, text in MANY.items()), encoding="utf-8")
    write_counts(tmp_path / "q.json", Counts(len(MANY), 1, 1, ""))
    (tmp_path / "index").mkdir()
    write_segments(tmp_path / "index", b"contents")

    def searched(killed_at=None, answers=lambda query_id: query_id != "nothing", b=0.68, code="code"):
        asked = []

        def anserini(main, *arguments, into, **settings):
            topics = dict(line.split("\t") for line in arguments[arguments.index("-topics") + 1].read_text().splitlines())
            asked.append(list(topics))
            if len(asked) == killed_at:
                raise Killed
            order = sorted(filter(answers, topics), key=lambda query_id: query_id.encode("utf-16-be"))
            into.write_text(
                "".join(f"{query_id} Q0 d{place} {place} {5 - place} Anserini\n" for query_id in order for place in (1, 2))
            )
            return "done"

        class Searcher:
            def __init__(self, *arguments):
                pass

            def search(self, text, hits):
                return ["a hit"] if text != "zebra" else []

            def close(self):
                pass

        monkeypatch.setattr("epic.first_stage.retrieve.anserini", anserini)
        monkeypatch.setattr("epic.first_stage.retrieve.Searcher", Searcher)
        paths = tmp_path / "index", tmp_path / "q.tsv", tmp_path / "q.json"
        try:
            retrieve(*paths, 0.82, b, 10, 4, 512, tmp_path / "out.run", tmp_path / "out.json", tmp_path / "state", code)
        except Killed:
            assert not (tmp_path / "out.run").exists()
        return asked

    return searched


def write_segments(index, content):
    checked = content + FOOTER
    (index / "segments_1").write_bytes(checked + zlib.crc32(checked).to_bytes(8, "big"))


def test_a_large_set_is_searched_in_parts_and_the_run_is_in_the_order_of_one_search(in_parts, tmp_path):
    asked = in_parts()
    assert [len(part) for part in asked] == [3, 3, 3, 1]
    order = [line.split()[0] for line in (tmp_path / "out.run").read_text().splitlines()][::2]
    assert order == sorted(MANY.keys() - {"nothing"}, key=lambda query_id: query_id.encode("utf-16-be"))
    assert order[-2:] == ["\U0001f41d", "\uffee"]  # as Java sorts them; as numbers of characters, they stand the other way round
    assert json.loads((tmp_path / "out.json").read_text()) == {"answered": 9, "hits": 18, "without_hits": ["nothing"]}


def test_a_search_that_was_killed_goes_on_after_the_last_whole_part(in_parts, tmp_path):
    whole = in_parts()
    expected = [(tmp_path / name).read_bytes() for name in ("out.run", "out.json")]
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "out.run").unlink()
    assert in_parts(killed_at=3) == whole[:3]
    assert in_parts() == whole[2:]
    assert [(tmp_path / name).read_bytes() for name in ("out.run", "out.json")] == expected
    assert in_parts() == []  # until Snakemake has recorded the run


@pytest.mark.parametrize("change", ["b", "code", "index", "queries"])
def test_parts_of_another_search_are_not_taken(in_parts, tmp_path, change):
    in_parts(killed_at=4)
    if change == "index":
        write_segments(tmp_path / "index", b"others")
    if change == "queries":
        path = tmp_path / "q.tsv"
        path.write_text(path.read_text(encoding="utf-8").replace("text 3", "text three"), encoding="utf-8")
    assert len(in_parts(**({"b": 0.4} if change == "b" else {"code": "other"} if change == "code" else {}))) == 4


def test_a_part_that_was_damaged_is_made_again(in_parts, tmp_path):
    first, *_ = in_parts(killed_at=4)
    (part,) = (tmp_path / "state").glob("*/1-of-4.run")
    part.write_bytes(part.read_bytes().replace(b"d2", b"d3"))
    assert in_parts()[0] == first and b"d3" not in (tmp_path / "out.run").read_bytes()


def test_a_query_that_is_lost_in_a_part_is_named(in_parts, tmp_path):
    with pytest.raises(RuntimeError, match="Anserini lost query q3/%20é: it has hits, but none in the run"):
        in_parts(answers=lambda query_id: query_id not in ("nothing", "q3/%20é"))
    assert not (tmp_path / "out.run").exists()
