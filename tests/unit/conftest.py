"""What tests of several packages share: small collections, a store, and what training needs."""

import tarfile

import pytest

from tests.measures import measure
from tests.predicted import NAME
from tests.training import QRELS, QUERIES, RUN, write_collection


@pytest.fixture
def collection_of(tmp_path):
    """Write passages to a folder of their own and open it as a collection; their ids are 0, 1 and so on."""
    from epic.corpus.documents import Documents

    def made(*texts):
        folder = tmp_path / "collection"
        folder.mkdir()
        (folder / "docs.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in enumerate(texts)), encoding="utf-8")
        return Documents(f"path:{folder}")

    return made


@pytest.fixture
def documents(collection_of):
    """Seven passages: an empty one, one of a single word and one longer than the tiny encoder's window among them."""
    return collection_of(
        "price of a pool",
        "",
        "x",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        "café cost",
        "pools pools",
        "z y x",
    )


@pytest.fixture
def samples(tmp_path):
    """Two samples of predicted queries in two chunks: three passages, then one."""
    folder = tmp_path / "predicted"
    folder.mkdir()
    for sample in range(2):
        (folder / NAME.format(sample, 0)).write_text("".join(f"s{sample} d{doc}\n" for doc in range(3)))
        (folder / NAME.format(sample, 1)).write_text(f"s{sample} d3\n")
    return folder


@pytest.fixture
def store(tmp_path):
    """A store of 3000 random vectors, 64 of 256 terms each."""
    from epic.vectors.store import Store
    from tests.bench.inputs import write_store

    write_store(tmp_path / "store", documents=3000, keep=64, vocabulary=256)
    return Store(tmp_path / "store")


@pytest.fixture(params=["paper", "released"])
def checkpoint(mlm_encoder, request, tmp_path):
    """A checkpoint of either formulation on the random encoder, with the graph of its query side."""
    from epic.model.epic import EpicModel
    from epic.model.query_onnx_export import export

    EpicModel.from_encoder(mlm_encoder, request.param, seed=7).eval().save_pretrained(tmp_path / "checkpoint")
    export(tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


@pytest.fixture
def released(mlm_encoder):
    """An untrained model of the released formulation, in float32."""
    from epic.model.epic import EpicModel

    return EpicModel.from_encoder(mlm_encoder, "released", seed=7)


@pytest.fixture
def theirs(released, tmp_path):
    """epic.p as torch wrote it then (the old format) and the tar that holds it, with their md5s."""
    import torch

    from tests.authors import their_state

    state = their_state(released)
    torch.save(state, tmp_path / "epic.p", _use_new_zipfile_serialization=False)
    (tmp_path / "weights.p").write_bytes((tmp_path / "epic.p").read_bytes())
    (tmp_path / "config.json").write_text("{}")
    with tarfile.open(tmp_path / "epic.msmarco.tar.gz", "w:gz") as archive:
        for name in ("config.json", "weights.p"):
            archive.add(tmp_path / name, arcname=f"epic/{name}")
    return state


@pytest.fixture
def examples(tmp_path):
    """Write triples to a file and read them back with their queries and documents."""
    from epic.corpus.documents import Documents
    from epic.training.examples import Examples

    def made(triples=None):
        write_collection(tmp_path, triples)
        return Examples(tmp_path / "t.tsv", tmp_path / "tq.tsv", Documents(f"path:{tmp_path}"))

    return made


@pytest.fixture
def validation():
    from epic.training.validation import Validation

    return Validation(QUERIES, QRELS, RUN, 512, measure("RR@10"))


@pytest.fixture(params=["paper", "released"])
def formulation(request):
    return request.param
