"""All work that a model does on a card, once: compared with what a CPU computed before, and looked at for where it was done.

`prepare_work` writes what it needs; `work` fails if a result differs, is left on the card, or was not computed there.
"""

import json
import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import torch

from epic.analysis.interpret import write_interpretation
from epic.corpus.runs import ScoredDoc, write_run
from epic.corpus.text_files import Triple
from epic.first_stage.deepct_labels import Labels
from epic.first_stage.generate import queries_of
from epic.first_stage.query_generator import Drawing, QueryGenerator
from epic.model.deepct_counts import Form
from epic.model.epic import EpicModel, load_model
from epic.model.query_onnx_export import export
from epic.model.query_torch import query_vector
from epic.model.query_vector import write_vectors
from epic.model.term_weights import load_term_weights
from epic.model.weigh import query_vectors, weigh
from epic.rankers import cross_encoder, duet, tk
from epic.rankers import epic as family
from epic.training.examples import Example
from epic.training.members import train_all
from epic.training.regress import Portion, RegressSettings, regress
from epic.training.resume import State
from epic.training.train import Learner, train
from epic.training.validation import Validation
from epic.vectors.at_query_time import compute_vectors, copy_vectors
from epic.vectors.batches import Budget
from epic.vectors.candidates import Candidates, QuerySet, write_candidates
from epic.vectors.encode import encode_shard
from epic.vectors.phi import document_vectors
from epic.vectors.reweigh import reweigh, weights_of
from epic.vectors.store import Store
from epic.vectors.unpruned_scores import unpruned_scores
from tests import fake_ranker
from tests.device.card import ON, inserted
from tests.generators import DRAWING, write_generator
from tests.measures import measure
from tests.tk import entry, write_vocabulary
from tests.training import settings
from tests.vectors import SETTINGS, spoken
from tests.words import duet_model
from tests.words import write_vocabulary as write_words

TEXTS = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p q r s t u v w x y z", "café cost", "pools pools", "z y x"]
QUERIES = {"q": "price of a pool", "r": "x", "none": "", "long": " ".join("abcdefghijklmnopqrstuvwxyz")}
RUN = {"q": [ScoredDoc(str(place), 1.0) for place in range(7)], "r": [ScoredDoc("1", 2.0), ScoredDoc("3", 1.0)]}
QRELS = {"q": {"0": 1}, "r": {"3": 1}}
CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
ENTRY = {"id": "m", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 3, "start": None}


class Passages:
    """A collection in memory."""

    dataset, repeated = "in memory", 0

    def __len__(self):
        return len(TEXTS)

    def span(self, positions):
        return ((str(place), TEXTS[place]) for place in positions)

    def texts(self, doc_ids):
        return [TEXTS[int(doc_id)] for doc_id in doc_ids]

    def positions(self, doc_ids):
        return [int(doc_id) for doc_id in doc_ids]

    def unknown(self, doc_ids):
        return []


class Triples:
    """Triples of that collection."""

    documents = Passages()

    def __len__(self):
        return 16

    def between(self, start, stop):
        chosen = [("q", "0", "3"), ("r", "3", "0"), ("q", "0", "1"), ("r", "6", "4")] * 4
        return [Example(Triple(*ids), QUERIES[ids[0]], *Passages().texts(ids[1:])) for ids in chosen[start:stop]]


def prepare_work(encoder, folder: Path) -> None:
    """Write checkpoints of both formulations, as they are and with the released code's batches, and the CPU's results."""
    shutil.copytree(encoder, folder / "encoder")
    write_generator(folder / "generator")
    (folder / "generated.json").write_text(json.dumps(queries_of_all(folder, "cpu")))
    write_vocabulary(folder / "vocabulary")
    for formulation in ("released", "paper"):
        plain, beside = folder / formulation, folder / f"{formulation}-batches"
        EpicModel.from_encoder(encoder, formulation, seed=7).eval().save_pretrained(plain)
        export(plain)
        shutil.copytree(plain, beside)
        facts = json.loads((beside / "epic.json").read_text())
        (beside / "epic.json").write_text(json.dumps(facts | {"released_batches": True}))
        for checkpoint in (plain, beside):
            results(checkpoint, CPU, folder / f"{checkpoint.name}-expected", nothing)


@contextmanager
def nothing(what: str, *operations: str):
    """Watch nothing."""
    yield


def results(checkpoint: Path, compute: dict, out: Path, watched) -> None:
    """Write everything that is computed with a checkpoint; each part is watched under its name."""
    out.mkdir()
    with watched("query vectors"):
        vectors = query_vectors(checkpoint, compute, QUERIES)
    with watched("loading"):
        model = load_model(checkpoint, compute)
    with watched("a query"):
        vectors |= weigh(partial(query_vector, model), {"again": QUERIES["q"]})
    np.savez(out / "queries.npz", **{query_id: vector.weights for query_id, vector in vectors.items()})
    write_vectors(vectors, out / "vectors.jsonl")
    write_run(out / "first.run", RUN, "bm25")
    asked = [QuerySet("s", out / "vectors.jsonl", [out / "first.run"], 9, timed=(1, 2))]
    write_candidates(asked, Passages(), None, out / "candidates")
    with watched("encoding", "topk", "segment_reduce", "bincount", "take"):
        encode_shard(model, "digest", spoken(model, Passages()), SETTINGS, out / "shard", Candidates(out / "candidates"))
    with watched("vectors"):
        np.save(out / "vectors.npy", document_vectors(model, model.pieces(TEXTS), 5))
        assert not document_vectors(model, [[], []], 5).any()  # no word-piece at all
    with watched("dense vectors"):
        block = {"token_budget": 64, "vocabulary_block": 5}
        absent = copy_vectors((), ["0", "3"], out / "dense.f16")
        compute_vectors(checkpoint, compute, Passages(), ["0", "3"], absent, block, out / "dense.f16")
    with watched("scores"):
        scored = unpruned_scores(model, Passages(), vectors, RUN, 64)
    np.save(out / "scores.npy", np.array([hit.score for hits in scored.values() for hit in hits]))
    with watched("interpretation"):
        texts = {"queries": list(QUERIES.values()), "passages": ["0", "3"]}
        write_interpretation(model, Passages(), texts, {}, (None, None), 5, out / "texts.json")


def work(folder: Path, training_first: bool = False, generating_first: bool = False) -> None:
    """Do all of it on a card."""
    parts = [_results, _half, _batches, _train, _pairs, _cross_encoder, _tk, _weighter, _members]
    with inserted() as card:

        @contextmanager
        def watched(what: str, *operations: str):
            card.forget()
            yield
            assert card.launches, f"{what}: nothing was computed on the card"
            assert all(card.launches[name] for name in operations), f"{what}: no {operations} on the card"

        ordered = parts[::-1] if training_first else parts
        for part in (_generate, *ordered) if generating_first else (*ordered, _generate):  # transformers takes seconds to import
            part(folder, watched)


def _results(folder: Path, watched) -> None:
    """Compute what a CPU has computed."""
    for checkpoint in ("released-batches", "released", "paper"):
        out = folder / f"{checkpoint}-found"
        shutil.rmtree(out, ignore_errors=True)
        results(folder / checkpoint, {"device": ON, "threads": 1, "precision": "float32"}, out, watched)
        _compare(folder / f"{checkpoint}-expected", out)


def _compare(expected: Path, found: Path) -> None:
    """Refuse results that are not near those of the CPU."""
    for left, right in ((np.load(path / "queries.npz") for path in (expected, found)),):
        assert all(np.allclose(left[name], right[name], rtol=1e-4, atol=1e-5) for name in left.files), "queries"
    half, single = (partial(np.fromfile, dtype=kind) for kind in (np.float16, np.float32))
    files = {
        "vectors.npy": np.load,
        "scores.npy": np.load,
        "dense.f16": half,
        "shard/dense.f16": half,
        "shard/scores/s.f32": single,
    }
    for name, read in files.items():
        left, right = (read(path / name).astype(float) for path in (expected, found))
        assert np.allclose(left, right, rtol=2e-3, atol=1e-4), name
    left, right = (Store(path / "shard") for path in (expected, found))
    assert np.array_equal(left.terms, right.terms) and np.allclose(left.weights, right.weights, rtol=2e-3, atol=1e-4)
    assert (expected / "shard" / "frequencies.json").read_text() == (found / "shard" / "frequencies.json").read_text()
    left, right = (json.loads((path / "texts.json").read_text()) for path in (expected, found))
    assert [text["pieces"] for text in left["passages"]] == [text["pieces"] for text in right["passages"]]


def _half(folder: Path, watched) -> None:
    """See that float16 lowers what it should, and not the head's transform."""
    model = load_model(folder / "released", {"device": ON, "threads": 1, "precision": "float16"})
    with watched("float16"), torch.no_grad(), model.autocast():
        f = model.passage_tokens(model.pieces(TEXTS[:1])).f
        assert model.body.encoder.layer[0].intermediate.dense(f).dtype == torch.float16
        assert model.equations.hidden(f).dtype == torch.float32


def _batches(folder: Path, watched) -> None:
    """Compute scores as in training, of texts that are all as long, and of texts without a word-piece."""
    model = EpicModel.from_pretrained(folder / "paper", ON)
    with watched("similarities"), torch.no_grad():
        for pieces in ([[5, 6], [7, 8]], [[], []]):
            assert model.similarities(model.query_tokens([[5]]), model.passage_tokens(pieces)).shape == (1, 2)


class _CutOffError(Exception):
    pass


class _Interrupted(State):
    """A state after whose first saving the job is killed."""

    def save(self, history, *rest):
        super().save(history, *rest)
        if len(history) == 1:
            raise _CutOffError


def _train(folder: Path, watched, precision: str = "float16") -> None:
    """Train as a job does, cut off and gone on, save, and read it back on the CPU."""
    validation = Validation(QUERIES, QRELS, RUN, 64, measure("RR@10"))
    entry = {"settings": {"formulation": "released"}, "seed": 7, "start": None}
    shutil.rmtree(folder / "state", ignore_errors=True)
    shutil.rmtree(folder / "trained", ignore_errors=True)
    for kind in (_Interrupted, State):
        with watched("training"):
            ranker = family.create(folder / "encoder", entry, [], ON)
            assert str(next(ranker.parameters()).device) == ON
            arguments = (
                validation,
                settings(precision=precision, patience=9),
                "one-minus-softmax",
                7,
                kind(folder / "state", "key"),
            )
            try:
                history = train(family, ranker, Triples(), *arguments)
            except _CutOffError:
                continue
    assert len(history) == 2
    family.save(ranker, folder / "trained", lambda digest: digest)
    weights = EpicModel.from_pretrained(folder / "trained").state_dict()
    assert all(torch.equal(value, ranker.state_dict()[name].cpu()) for name, value in weights.items())


def _weighter(folder: Path, watched) -> None:
    """Train a weighter, cut off and gone on, and reweigh passages of several lengths as a CPU does."""
    shutil.rmtree(folder / "weighter-state", ignore_errors=True)
    labels = [Labels(str(place), 1, {"pool": 1.0, "x": 0.5}) for place in range(len(TEXTS))]
    for kind in (_Interrupted, State):
        with watched("training a weighter"):
            model = load_term_weights(folder / "encoder", 16, seed=3).to(ON)
            state = kind(folder / "weighter-state", "key", lambda: 0.0, Portion, len)
            state.is_due = lambda: True
            try:
                history = regress(model, labels, Passages(), RegressSettings(2, 0.01, 2, 0.1, 0.01, 1.0, 4, "float16"), 3, state)
            except _CutOffError:
                continue
    assert len(history) == 2
    with torch.no_grad():
        model.classifier.bias += 0.5
    pieces = {str(place): ids for place, ids in enumerate(model.pieces(TEXTS))}
    with watched("reweighing"):
        found = dict(weights_of(model, pieces, Budget(64)))
        reweigh(model, Passages(), "1-of-1", Form(100, "linear", False), 64, "float32", folder / "reweighed")
    expected = dict(weights_of(model.to("cpu"), pieces, Budget(64)))
    assert all(np.allclose(found[name], expected[name], atol=1e-5) for name in pieces)
    assert len((folder / "reweighed" / "docs00.json").read_text().splitlines()) == len(TEXTS)


def _pairs(folder: Path, watched) -> None:
    """Make, save, load and use a ranker of pairs."""
    with watched("a family of pairs"):
        made = fake_ranker.create([], ENTRY, [], ON)
        assert str(made.weight.device) == ON
    shutil.rmtree(folder / "pairs", ignore_errors=True)
    fake_ranker.save(made, folder / "pairs", str)
    with watched("its scores"):
        loaded = fake_ranker.load(folder / "pairs", CPU | {"device": ON})
        assert str(loaded.weight.device) == ON
        found = fake_ranker.score(loaded, RUN, QUERIES, Passages(), 0)
    expected = fake_ranker.score(loaded.to("cpu"), RUN, QUERIES, Passages(), 0)
    assert np.allclose([hit.score for hit in found["q"]], [hit.score for hit in expected["q"]], atol=1e-6)


def _cross_encoder(folder: Path, watched) -> None:
    """Score pairs as on the CPU, and learn from a few triples."""
    entry = ENTRY | {
        "family": "cross_encoder",
        "settings": {"query_pieces": 4, "total_pieces": 15},
        "loss": "binary-cross-entropy",
    }
    ranker = cross_encoder.create(folder / "encoder", entry, [], "cpu")
    expected = cross_encoder.score(ranker, RUN, QUERIES, Passages(), 64)
    ranker.to(ON)
    with watched("pairs of a cross-encoder"):
        found = cross_encoder.score(ranker, RUN, QUERIES, Passages(), 64)
    for query_id, hits in expected.items():
        assert np.allclose([hit.score for hit in found[query_id]], [hit.score for hit in hits], rtol=1e-4, atol=1e-5), query_id
    with watched("training of a cross-encoder"):
        learner = Learner.of(cross_encoder, ranker, settings(clip=1.0, weight_decay=0.01), "binary-cross-entropy")
        learner.learn(Triples().between(0, 8), 1)


def _tk(folder: Path, watched) -> None:
    """Train TK in mixed precision, save it, and score a run and some pairs with it."""
    with watched("training TK", "_fused_adam_", "_coalesce"):
        made = tk.create(folder / "vocabulary", entry(), None, ON)
        assert str(next(made.parameters()).device) == ON
        shutil.rmtree(folder / "tk-state", ignore_errors=True)
        arguments = (
            Validation(QUERIES, QRELS, RUN, 64, measure("RR@10")),
            settings(precision="float16"),
            "hinge",
            7,
            State(folder / "tk-state", "key"),
        )
        train(tk, made, Triples(), *arguments)
    shutil.rmtree(folder / "tk", ignore_errors=True)
    tk.save(made, folder / "tk", str)
    loaded = tk.load(folder / "tk", CPU | {"device": ON})
    with watched("TK's scores", "bmm"):
        found = tk.score(loaded, RUN, QUERIES, Passages(), 24)
    with watched("TK's scores of pairs", "bmm"), torch.no_grad(), torch.autocast("card", torch.float16):
        pairs = loaded.pairs(["x", "x", ""], ["price of a pool", "x", "x"])
        assert pairs.dtype == torch.float32 and str(pairs.device) == ON
    expected = tk.score(loaded.to("cpu"), RUN, QUERIES, Passages(), 24)
    for query_id, hits in expected.items():
        assert np.allclose([hit.score for hit in found[query_id]], [hit.score for hit in hits], rtol=1e-4, atol=1e-6)


def queries_of_all(folder: Path, device: str, precision: str = "float32") -> list[list[str]]:
    """Generate queries for all passages."""
    generator = QueryGenerator(folder / "generator", Drawing(**DRAWING), device, 1, precision)
    return queries_of(generator, Passages(), range(len(TEXTS)), 4)


def _generate(folder: Path, watched) -> None:
    """Generate what a CPU has generated, and something in float16."""
    with watched("generated queries", "topk", "scatter"):
        assert queries_of_all(folder, ON) == json.loads((folder / "generated.json").read_text())
    with watched("generated queries in float16", "topk"):
        assert len(queries_of_all(folder, ON, "float16")) == len(TEXTS)


def _members(folder: Path, watched) -> None:
    """Train the members of a Duet, cut off and gone on; save, load and score on the card and on the CPU."""
    for name in ("words", "members", "duet"):
        shutil.rmtree(folder / name, ignore_errors=True)
    write_words(folder / "words")
    for kind in (_Interrupted, State):
        with watched("members"):
            ranker = duet.create(folder / "words", duet_model(members=2), [], ON)
            assert {str(value.device) for value in ranker.parameters()} == {ON}
            changes = settings(precision="float16", patience=9, max_validations=2)
            arguments = (
                Validation(QUERIES, QRELS, RUN, 64, measure("RR@10")),
                changes,
                "cross-entropy",
                7,
                kind(folder / "members", "key"),
            )
            try:
                course = train_all(duet, ranker, Triples(), *arguments)
            except _CutOffError:
                continue
    assert [len(history) for history in course.histories] == [2, 2]
    duet.save(ranker, folder / "duet", str)
    loaded = duet.load(folder / "duet", CPU | {"device": ON})
    with torch.no_grad():
        for member in loaded.members:
            member.last.bias.fill_(1.0)  # alive, whatever training did
    with watched("scores of members", "cummax"):
        found = duet.score(loaded, RUN, QUERIES, Passages(), 64)
        with torch.no_grad(), torch.autocast("card", torch.float16):
            assert loaded.pairs(["pool"], ["a pool"]).dtype == torch.float32
    expected = duet.score(loaded.to("cpu"), RUN, QUERIES, Passages(), 64)
    assert np.allclose([hit.score for hit in found["q"]], [hit.score for hit in expected["q"]], atol=1e-6)
