"""Shards of generated queries: in the published form, the same from any batches and shards, and after any interruption."""

import os
import signal

import pytest
import torch

from epic.core.files import InputError
from epic.first_stage import generate
from epic.first_stage.expand import expand
from epic.first_stage.generate import batches, generate_shard, queries_of
from epic.first_stage.generated_parts import Parts
from epic.first_stage.predicted_queries import predicted_at, source_of
from epic.first_stage.query_generator import Drawing, QueryGenerator, Tokens
from tests.generators import DRAWING
from tests.predicted import NAME, contents
from tests.processes import call

PASSAGES = [
    "price of a pool",
    "",
    "what is x",
    "price of a boot",
    "x",
    "  ",
    "pool of what price is it then",
    "price of a door",
    "a",
    "b",
]


@pytest.fixture
def documents(collection_of):
    return collection_of(*PASSAGES)


@pytest.fixture(scope="module")
def generator(generator_folder):
    return QueryGenerator(generator_folder, Drawing(**DRAWING), "cpu", 1, "float32")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(generate, "PASSAGES_OF_A_PART", 3)


def made(generator, documents, folder, shards=1, batch=4):
    """The folders of all shards."""
    for number in range(1, shards + 1):
        shard = f"{number}-of-{shards}"
        parts = Parts(folder / "state" / shard, "k" * 64, generator.drawing.samples)
        generate_shard(generator, documents, shard, batch, parts, folder / "out" / shard)
    return [folder / "out" / f"{number}-of-{shards}" for number in range(1, shards + 1)]


def lines(folders):
    """The queries of each passage, from the files of all shards."""
    samples = [
        [
            line
            for number, folder in enumerate(folders)
            for line in (folder / NAME.format(sample, number)).read_text().split("\n")[:-1]
        ]
        for sample in range(DRAWING["samples"])
    ]
    return [list(queries) for queries in zip(*samples, strict=True)]


def test_a_shard_has_a_file_for_each_sample_with_a_line_for_each_passage(generator, documents, tmp_path):
    first, second = made(generator, documents, tmp_path, shards=2)
    assert [path.name for path in sorted(first.iterdir())] == [NAME.format(sample, 0) for sample in range(3)]
    assert [path.name for path in sorted(second.iterdir())] == [NAME.format(sample, 1) for sample in range(3)]
    found = lines([first, second])
    assert len(found) == len(PASSAGES) and found[1] == found[5] == ["", "", ""]
    assert all(any(some) for place, some in enumerate(found) if place not in (1, 5))


def test_neither_batches_nor_shards_nor_parts_change_a_query(generator, documents, tmp_path, monkeypatch):
    expected = lines(made(generator, documents, tmp_path / "0"))
    assert lines(made(generator, documents, tmp_path / "1", batch=1)) == expected
    assert lines(made(generator, documents, tmp_path / "2", shards=4, batch=3)) == expected
    monkeypatch.setattr(generate, "PASSAGES_OF_A_PART", 100)
    assert lines(made(generator, documents, tmp_path / "3", batch=100)) == expected


def test_more_shards_than_passages_leave_empty_files(generator, collection_of, tmp_path):
    found = made(generator, collection_of("x"), tmp_path, shards=3)
    assert sum(not (folder / NAME.format(2, number)).read_text() for number, folder in enumerate(found)) == 2
    assert len(lines(found)) == 1


def test_passages_are_expanded_by_what_was_generated(generator, documents, tmp_path):
    folders = made(generator, documents, tmp_path, shards=2)
    made(generator, documents, tmp_path, shards=3)  # of another number of shards, beside them
    source, queries = source_of(list(map(str, folders))), lines(folders)
    expand(documents, source, 3, None, tmp_path / "expanded")
    found = [line["contents"] for line in contents(tmp_path / "expanded")]
    expected = [f"{text} {' '.join(some)}" for text, some in zip(PASSAGES, queries, strict=True)]
    assert found == [text if text.strip() else "" for text in expected] and found[1] == ""
    assert predicted_at(source, 2, {"6": 6}) == {"6": " ".join(queries[6][:2]).strip()}


def test_more_samples_than_were_generated_are_refused_with_the_folder(generator, documents, tmp_path):
    source = source_of(list(map(str, made(generator, documents, tmp_path))))
    with pytest.raises(InputError, match=r"out: chunk 000 lacks sample 003 of the 4 asked for"):
        expand(documents, source, 4, None, tmp_path / "expanded")


def counted(generator, monkeypatch, fail_after=None):
    """The passages that a generator reads from now on; it fails after some."""
    read, queries = [], generator.queries

    def listening(some):
        if fail_after is not None and len(read) + len(some) > fail_after:
            raise KeyboardInterrupt
        read.extend(passage.position for passage in some)
        return queries(some)

    monkeypatch.setattr(generator, "queries", listening)
    return read


def test_an_interrupted_shard_goes_on_and_ends_with_the_same_bytes(generator, documents, tmp_path, monkeypatch):
    expected = lines(made(generator, documents, tmp_path / "whole"))
    with monkeypatch.context() as patched:
        counted(generator, patched, fail_after=5)
        with pytest.raises(KeyboardInterrupt):
            made(generator, documents, tmp_path / "cut")
    assert not (tmp_path / "cut" / "out" / "1-of-1").exists()
    read = counted(generator, monkeypatch)
    assert lines(made(generator, documents, tmp_path / "cut")) == expected
    assert read and min(read) >= 6  # two parts were there
    read.clear()
    assert lines(made(generator, documents, tmp_path / "cut")) == expected and read == []  # all of them


def test_a_damaged_part_is_made_again(generator, documents, tmp_path, monkeypatch):
    expected = lines(made(generator, documents, tmp_path))
    (part,) = (tmp_path / "state" / "1-of-1" / ("k" * 16)).glob("000000000003-*")
    part.write_text(part.read_text().replace("e", "o", 1))
    read = counted(generator, monkeypatch)
    assert lines(made(generator, documents, tmp_path)) == expected and sorted(read) == [3, 4]


def generate_and_die(folder, dataset, place):
    """Generate in a process of its own, which is killed with the second part."""
    from epic.corpus.documents import Documents

    generate.PASSAGES_OF_A_PART = 3
    generator = QueryGenerator(folder, Drawing(**DRAWING), "cpu", 1, "float32")
    write = Parts.write

    def write_or_die(self, positions, queries):
        write(self, positions, queries)
        if positions.start >= 3:
            os.kill(os.getpid(), signal.SIGKILL)

    Parts.write = write_or_die
    parts = Parts(place / "state" / "1-of-1", "k" * 64, 3)
    generate_shard(generator, Documents(dataset), "1-of-1", 4, parts, place / "out" / "1-of-1")


def test_a_killed_job_goes_on_and_ends_with_the_same_bytes(generator, generator_folder, documents, tmp_path, monkeypatch):
    expected = lines(made(generator, documents, tmp_path / "whole"))
    done = call(generate_and_die, generator_folder, documents.dataset, tmp_path / "killed")
    assert done.returncode == -signal.SIGKILL, done.stdout
    read = counted(generator, monkeypatch)
    assert lines(made(generator, documents, tmp_path / "killed")) == expected and min(read) >= 6
    assert [path.name for path in (tmp_path / "killed" / "out").iterdir()] == ["1-of-1"]  # nothing half-written is left


def test_batches_have_passages_of_one_length_and_fewer_of_long_ones():
    passages = [Tokens(place, [5] * length) for place, length in enumerate([3, 200, 3, 3, 512, 200, 200, 3])]
    found = [[passage.position for passage in batch] for batch in batches(passages, 3)]
    assert found == [[0, 2, 3], [7], [1], [5], [6], [4]]
    assert [len(batch) for batch in batches([Tokens(place, [5] * 128) for place in range(7)], 3)] == [3, 3, 1]


def test_a_batch_that_does_not_fit_into_memory_is_computed_in_smaller_ones(generator, documents, monkeypatch):
    expected, sizes, queries = queries_of(generator, documents, range(10), 8), [], generator.queries

    def tight(some):
        sizes.append(len(some))
        if len(some) > 1:
            raise torch.OutOfMemoryError("no memory")
        return queries(some)

    monkeypatch.setattr(generator, "queries", tight)
    assert queries_of(generator, documents, range(10), 8) == expected and max(sizes) > 1
    monkeypatch.setattr(generator, "queries", lambda some: queries_of(None, None, None, None))
    with pytest.raises(AttributeError):
        queries_of(generator, documents, range(10), 8)
    monkeypatch.setattr(generator, "queries", lambda some: (_ for _ in ()).throw(torch.OutOfMemoryError("even one")))
    with pytest.raises(torch.OutOfMemoryError):
        queries_of(generator, documents, range(4, 5), 8)
