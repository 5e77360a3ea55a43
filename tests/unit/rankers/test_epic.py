"""EPIC as a family: what training, re-ranking and timing ask of it, against the model itself."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc, write_run
from epic.corpus.text_files import Triple
from epic.latency.latency import Bench
from epic.model.checkpoint import model_digest
from epic.model.epic import EpicModel
from epic.model.query_vector import write_vectors
from epic.model.weigh import query_encoder
from epic.rankers import epic as family
from epic.training.examples import Example
from epic.vectors.candidates import Candidates, QuerySet, write_candidates
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_vectors
from epic.vectors.prune import prune
from epic.vectors.store import Store
from tests.conftest import ROOT
from tests.vectors import SETTINGS, spoken

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
QUERIES = {"q": "cost of a pool", "r": "x y pool", "none": "z"}
RUN = {"q": [ScoredDoc(doc, 9.0) for doc in "5031"], "r": [ScoredDoc(doc, 9.0) for doc in "26"]}


def by_vectors(model, texts):
    """The score of every query and passage, by document vectors over the whole vocabulary."""
    vectors = document_vectors(model, model.pieces(texts.values()), 1000).astype(np.float32)  # (n, V)
    found = {}
    for query_id, text in QUERIES.items():
        tokens = model.query_tokens(model.pieces([text]))
        with torch.inference_mode():
            weights = model.equations.w_q(tokens.f).numpy()  # (T,)
        found[query_id] = dict(zip(texts, (vectors[:, tokens.ids.numpy()] @ weights).tolist(), strict=True))
    return found


@torch.inference_mode()
def test_pair_scores_are_the_model_s_pair_by_pair(model):
    examples = [
        Example(Triple("q", "0", "1"), "cost of a pool", "price of a pool", ""),
        Example(Triple("r", "2", "3"), "x", "a b c d e f g h i j k l m n o p q r s t", "café x"),
    ]
    found = family.pair_scores(model, examples, None)
    assert found.shape == (2, 2)
    for row, example in enumerate(examples):
        for column, text in enumerate((example.relevant, example.other)):
            alone = model.similarities(
                model.query_tokens(model.pieces([example.query])), model.passage_tokens(model.pieces([text]))
            )
            assert found[row, column].item() == pytest.approx(alone.item(), rel=1e-10, abs=1e-12)
    cut = family.pair_scores(model, examples, 3)
    expected = family.pair_scores(
        model, [examples[0]._replace(relevant="price of a"), examples[1]._replace(relevant="a b c")], None
    )
    assert torch.allclose(cut, expected, rtol=1e-10) and not torch.allclose(cut, found)


@torch.inference_mode()
def test_a_run_is_scored_by_unpruned_vectors_in_its_own_order(model, documents):
    model, texts = model.float(), dict(documents.span(range(7)))
    expected = by_vectors(model, texts)
    found = family.score(model, RUN, QUERIES, documents, budget=64)
    assert list(found) == ["q", "r"]
    for query_id, hits in found.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in RUN[query_id]]
        assert [hit.score for hit in hits] == pytest.approx([expected[query_id][hit.doc_id] for hit in hits], rel=2e-3, abs=1e-6)


def test_the_layers_that_start_at_random_are_those_that_no_encoder_has(model):
    new = {name.split(".")[1] for name, _ in model.named_parameters() if name.startswith(family.NEW_LAYERS)}
    assert new == {"theta1", "theta3", "theta4"}


def test_a_model_starts_from_its_encoder_or_from_the_authors_weights(mlm_encoder, theirs, tmp_path):
    entry = {"settings": {"formulation": "released"}, "seed": 7, "start": {"md5": None}}
    fresh, started = family.create(mlm_encoder, entry, [], "cpu"), family.create(mlm_encoder, entry, tmp_path / "epic.p", "cpu")
    assert isinstance(fresh, EpicModel) and fresh.formulation == "released" and not fresh.training
    assert torch.equal(started.equations.theta1.weight, theirs["query_salience.weight"])
    assert not torch.equal(fresh.equations.theta1.weight, theirs["query_salience.weight"])
    assert not started.released_batches
    entry["settings"]["released_batches"] = True
    assert family.create(mlm_encoder, entry, tmp_path / "epic.p", "cpu").released_batches


def test_a_checkpoint_has_its_graph_and_its_card_and_comes_back_as_it_was(model, tmp_path):
    model = model.float()
    family.save(model, tmp_path / "checkpoint", lambda digest: f"the card of {digest}")
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == [
        "README.md", "config.json", "epic.json", "model.safetensors", "query.onnx", "tokenizer.json",
    ]  # fmt: skip
    assert (tmp_path / "checkpoint" / "README.md").read_text() == f"the card of {model_digest(tmp_path / 'checkpoint')}"
    again = family.load(tmp_path / "checkpoint", CPU | {"precision": "bfloat16"})
    before, after = model.state_dict(), again.state_dict()
    assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)
    assert not again.training and again.precision == torch.bfloat16


def test_a_folder_of_something_else_is_neither_replaced_nor_loaded(paper_model, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="exists and is no EPIC checkpoint"):
        family.save(paper_model.float(), tmp_path, str)
    with pytest.raises(InputError, match="not an EPIC checkpoint"):
        family.load(tmp_path, CPU)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_card_names_the_formulation_and_shows_code_that_is_there():
    found = family.card({"settings": {"formulation": "released"}})
    assert found["title"] == "EPIC, formulation `released`"
    code = "\n".join(found["use"])
    compile(code, "card", "exec")
    from epic import Epic

    assert (
        all(hasattr(Epic, name) for name in ("from_pretrained", "score"))
        and "from_pretrained(" in code
        and "model.score(" in code
    )


@pytest.fixture
def files(checkpoint, documents, tmp_path):
    """The files of an experiment with one model: manifest, query vectors, a run with its cut-off, and a store of all terms."""
    model, encode = family.load(checkpoint, CPU), query_encoder(checkpoint, CPU)
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": documents.dataset, "count": 7}))
    (tmp_path / "cutoff.json").write_text(json.dumps({"cutoff": 2}))
    write_vectors({query_id: encode(text) for query_id, text in QUERIES.items()}, tmp_path / "v.jsonl")
    write_run(tmp_path / "first.run", RUN, "bm25")
    encode_shard(model, model_digest(checkpoint), spoken(model, documents), SETTINGS, tmp_path / "shard")
    prune([tmp_path / "shard"], model.vocabulary, 7, tmp_path / "store")
    names = {"manifest": "manifest.json", "vectors": "v.jsonl", "run": "first.run", "cutoff": "cutoff.json", "store": "store"}
    return SimpleNamespace(checkpoint=checkpoint, **{key: tmp_path / name for key, name in names.items()})


def test_an_experiment_s_files_give_the_same_scores_by_the_model_and_by_a_store_of_all_terms(files, documents):
    expected = by_vectors(family.load(files.checkpoint, CPU), dict(documents.span(range(7))))
    for found in (family.score_run(RUN, files, CPU, 64), family.score_stored(RUN, files, CPU | {"threads": 2})):
        for query_id, hits in RUN.items():
            assert [hit.doc_id for hit in found[query_id]] == [hit.doc_id for hit in hits]
            scores = [expected[query_id][hit.doc_id] for hit in hits]
            assert [hit.score for hit in found[query_id]] == pytest.approx(scores, rel=2e-3, abs=1e-5)


def test_a_store_of_another_model_is_not_scored(files, mlm_encoder, tmp_path):
    EpicModel.from_encoder(mlm_encoder, "paper", seed=8).save_pretrained(tmp_path / "other")
    with pytest.raises(InputError, match="was made by the model"):
        family.score_stored(RUN, SimpleNamespace(**vars(files) | {"checkpoint": tmp_path / "other"}), CPU)


def test_scoring_by_a_store_does_not_import_torch(files):
    code = "import sys; from types import SimpleNamespace; from epic.rankers import epic as family; from epic.corpus.runs import ScoredDoc\n"
    code += f"files = SimpleNamespace(store={str(files.store)!r}, checkpoint={str(files.checkpoint)!r}, vectors={str(files.vectors)!r})\n"
    code += "family.score_stored({'q': [ScoredDoc('0', 1.0)]}, files, {'threads': 1}); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout == "False\n"


SYSTEM = {"compute": CPU, "encode": {"token_budget": 64, "vocabulary_block": 5}}


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "bench").mkdir()
    return Bench(tmp_path / "bench")


def timed(files, bench, hits, store, query="q"):
    files = SimpleNamespace(**vars(files) | ({} if store else {"store": []}))
    return family.timed(lambda text: hits, files, {query: QUERIES[query]}, {}, SYSTEM, bench)


@pytest.mark.parametrize("store", [True, False])
@pytest.mark.parametrize("hits", [["3", "0"], []])
def test_a_query_is_timed_by_stage_with_a_store_or_with_unpruned_vectors(files, bench, hits, store):
    system = timed(files, bench, hits, store)
    layer = files.store.parent / "shard" / str(Store(files.store).keep)
    assert system.on_disk == [layer if store else bench.scratch / "0.f16"]
    for _ in range(2):  # it can be closed and opened again
        with system.opened() as time_one:
            found = time_one(QUERIES["q"])
        assert sorted(found) == ["load", "query_vector", "retrieve", "score", "total"]
        assert found["total"] >= max(found["query_vector"], found["retrieve"] + found["load"]) + found["score"]


def test_the_unpruned_vectors_are_those_of_the_candidates_of_the_timed_queries(files, documents, bench):
    system = timed(files, bench, ["0"], store=False)
    doc_ids = system.dense.doc_ids
    assert doc_ids == ["0", "1", "3", "5"]  # of the query q: its four hits, fewer than the cut-off and twenty more
    model = family.load(files.checkpoint, CPU)
    expected = document_vectors(model, model.pieces(documents.texts(doc_ids)), 1000)
    found = np.fromfile(*system.on_disk, dtype=np.float16).reshape(4, model.vocabulary)
    assert np.allclose(found, expected, rtol=2e-3, atol=1e-6) and not found[1].any()  # 1 is the empty passage
    with system.opened() as time_one, pytest.raises(InputError, match="document 2 is a hit now"):
        system.search = lambda text: ["2"]
        time_one("x")


def test_unpruned_vectors_that_encoding_kept_are_copied_and_only_others_computed(files, documents, bench, tmp_path):
    candidates = [QuerySet("s", tmp_path / "v.jsonl", [files.run], 9, timed=(1, 3))]  # of q's four hits the first three
    write_candidates(candidates, documents, None, tmp_path / "candidates")
    model = family.load(files.checkpoint, CPU)
    encode_shard(model, "digest", spoken(model, documents), SETTINGS, tmp_path / "1-of-1", Candidates(tmp_path / "candidates"))
    marked = np.memmap(tmp_path / "1-of-1" / "dense.f16", np.float16, "r+").reshape(3, -1)
    marked[:, 0] = 7  # as no vector is: what was copied can be told from what was computed
    marked.flush()
    np.array([crc32(vector) for vector in marked], dtype=np.uint32).tofile(tmp_path / "1-of-1" / "dense.u32")
    kept = SimpleNamespace(**vars(files), candidates=tmp_path / "candidates", scored=[tmp_path / "1-of-1"])
    system = timed(kept, bench, ["0"], store=False)
    found = np.fromfile(*system.on_disk, dtype=np.float16).reshape(4, model.vocabulary)
    last = RUN["q"][3].doc_id
    assert [doc_id for doc_id, vector in zip(system.dense.doc_ids, found, strict=True) if vector[0] != 7] == [last]
    expected = document_vectors(model, model.pieces(documents.texts(system.dense.doc_ids)), 1000)
    assert np.allclose(found[:, 1:], expected[:, 1:], rtol=2e-3, atol=1e-6)


def test_rows_of_one_model_share_its_query_encoder_and_the_vectors_of_all_their_candidates(files, bench):
    rows = [timed(files, bench, ["0"], store=False, query=query) for query in QUERIES]
    alone = [timed(files, Bench(bench.scratch), ["0"], store=False, query=query).dense.doc_ids for query in QUERIES]
    assert len({id(row.encode) for row in rows}) == len({id(row.dense) for row in rows}) == 1
    assert rows[0].dense.doc_ids == sorted({doc_id for doc_ids in alone for doc_id in doc_ids}) != alone[0]
    (path,) = rows[0].on_disk
    written = path.stat().st_mtime_ns
    assert rows[-1].on_disk == [path] and path.stat().st_mtime_ns == written  # once for all


@pytest.mark.parametrize("store", [True, False])
def test_nothing_on_disk_stays_mapped_when_it_is_closed(files, bench, tmp_path, store):
    system = timed(files, bench, ["0"], store)
    name = "weights.f16" if store else "0.f16"

    def mapped():
        with open("/proc/self/maps") as stream:
            return any(str(tmp_path) in line and name in line for line in stream)

    with system.opened() as time_one:
        time_one("cost of a pool")
        assert mapped()
    assert not mapped() and callable(time_one)
