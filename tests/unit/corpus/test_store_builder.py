"""Stores that are built in little memory: the same files as ir_datasets', of ids of any kind and number."""

import json
import random

import numpy as np
import pytest
from ir_datasets.formats import GenericDoc
from ir_datasets.indices import PickleLz4FullStore

from epic.corpus import store_builder
from epic.corpus.store_builder import build_store
from tests.seeded import run_in


def store(folder, documents):
    """A store of ir_datasets, not built."""
    return PickleLz4FullStore(
        path=str(folder),
        init_iter_fn=lambda: iter(documents),
        data_cls=GenericDoc,
        lookup_field="doc_id",
        index_fields=["doc_id"],
    )


def numbers(count):
    return [str(number) for number in range(count)]


def hexadecimal(count):
    draw = random.Random(0)
    return [f"{draw.getrandbits(160):040x}" for _ in range(count)]


def any_letters(count):
    draw = random.Random(1)
    return list(dict.fromkeys("".join(draw.choices("aZ0äß漢😀-%", k=draw.randint(1, 12))) for _ in range(count)))


@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 20])
@pytest.mark.parametrize("ids", [numbers(300), hexadecimal(300), any_letters(300), ["x"], sorted(hexadecimal(50))])
def test_the_files_are_those_that_ir_datasets_writes(tmp_path, monkeypatch, ids, at_a_time):
    monkeypatch.setattr(store_builder, "AT_A_TIME", at_a_time)
    documents = [GenericDoc(doc_id, f"text of {doc_id}") for doc_id in ids]
    store(tmp_path / "theirs", documents).build()
    build_store(store(tmp_path / "ours", documents))
    names = {"bin", "bin.meta", "bin.pos", "idx.doc_id.key", "idx.doc_id.pos", "idx.doc_id.meta"}
    for folder in ("theirs", "ours"):
        assert {path.name for path in (tmp_path / folder).iterdir()} == names
    for name in names:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name
    built = store(tmp_path / "ours", [])
    assert built.built() and built.get_many(ids[:3]).keys() == set(ids[:3])


@pytest.mark.parametrize("at_a_time", [1, 2, 1 << 20])
def test_of_documents_with_one_id_the_last_is_found_as_ir_datasets_has_it(tmp_path, monkeypatch, at_a_time):
    monkeypatch.setattr(store_builder, "AT_A_TIME", at_a_time)
    documents = [GenericDoc(doc_id, str(place)) for place, doc_id in enumerate("bcabbac")]
    build_store(store(tmp_path / "ours", documents))
    store(tmp_path / "theirs", documents).build()
    files = sorted(path.name for path in (tmp_path / "theirs").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "ours").iterdir())
    assert all((tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes() for name in files)
    assert store(tmp_path / "ours", documents).get("b").text == "4"


def test_a_source_that_breaks_leaves_no_store(tmp_path):
    def breaking():
        yield GenericDoc("a", "b")
        raise ValueError("no more")

    broken = store(tmp_path / "ours", [])
    broken.init_iter_fn = breaking
    with pytest.raises(ValueError, match="no more"):
        build_store(broken)
    assert not store(tmp_path / "ours", []).built()


def test_a_disk_that_is_too_small_is_refused_first(tmp_path):
    small = store(tmp_path / "ours", [GenericDoc("a", "b")])
    small.size_hint = 1 << 60
    with pytest.raises(ValueError, match="Insufficient disk space"):
        build_store(small)
    assert not (tmp_path / "ours").exists()


def test_a_store_of_another_kind_builds_itself(tmp_path):
    built = []

    class Other:
        def build(self):
            built.append(self)

    build_store(Other())
    assert len(built) == 1


def test_memory_grows_by_the_packed_ids_alone(tmp_path):
    """Half a million ids of 40 letters: 20 MB, their places and order 8 MB; as strings, sorted and encoded they take 160 MB more."""
    code = f"""
import json, random, resource
from epic.corpus.store_builder import Ids
draw, peak = random.Random(0), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
ids, before = Ids({str(tmp_path / "idx")!r}), peak()
for place in range(500_000):
    ids.add(f"{{draw.getrandbits(160):040x}}", place)
ids.commit()
print(json.dumps(peak() - before))
"""
    run = run_in(
        tmp_path,
        code.replace("AT_A_TIME", "1 << 16"),
        prelude="from epic.corpus import store_builder\nstore_builder.AT_A_TIME = 1 << 16",
    )
    assert run.returncode == 0 and json.loads(run.stdout.splitlines()[-1]) < 90, run.stdout
    assert np.fromfile(tmp_path / "idx.key", "S40").size == 500_000
