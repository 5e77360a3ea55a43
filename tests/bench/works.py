"""The works that are compared: each function yields records, after it has made sure that both ways give the same."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import torch

from epic.config import EncodeSettings, TrainSettings
from epic.encode import pruned_vectors
from epic.frequencies import Counter
from epic.log import progress
from epic.lookup import dense_dot, dot, scores
from epic.loss import LOSSES
from epic.mapped import Mapped
from epic.model import Epic
from epic.prune import prune
from epic.session import Session
from epic.store import Store
from epic.train import Learner, scores_of
from epic.vectors import QueryVector
from tests.bench import inputs, plain
from tests.bench.equality import same_gradients, same_queries, same_scores, same_vectors
from tests.bench.measure import Way, arithmetic, copying, versus

KEEP, BLOCK = 1000, 1024  # terms kept of an encoded passage; vocabulary entries at a time
PIECES = 96  # word-pieces of a passage, about


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rounds: int  # of works that take seconds
    light_rounds: int  # of the others
    batches: dict[int, int]  # of encoding: how many passages at each batch size of the plain way
    base_passages: int
    triples: int
    documents: int  # in the store that is looked up
    dense_documents: int
    ks: tuple[int, ...]
    rs: tuple[int, ...]
    cold_ks: tuple[int, ...]
    prune_documents: int


def forward_flops(model: Epic, lengths: list[int], terms: int) -> float:
    """Floating point operations of encoding texts without padding: the body, the head's transform and `terms` columns."""
    config = model.body.config
    e, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    body = sum(layers * ((8 * e * e + 4 * e * inner) * (n + 2) + 4 * e * (n + 2) ** 2) for n in lengths)
    return body + sum(lengths) * (2 * e * e + 2 * e * terms)


def encode(name: str, model: Epic, batches: dict[int, int], rounds: int, keep: int = KEEP, clock=process_time):
    """Passages to pruned vectors in memory, word-pieces included; our batches hold as many passages as theirs, about."""
    theirs = plain.PlainEpic(model).eval()
    for batch, count in batches.items():
        texts = inputs.texts(count, seed=batch)
        settings = EncodeSettings(max_terms=keep, token_budget=PIECES * batch, vocabulary_block=BLOCK)
        flops = forward_flops(model, [len(ids) for ids in model.pieces(texts.values())], model.vocabulary)

        def their_way(texts=texts, batch=batch):
            return plain.encode(theirs, model.pieces(texts.values()), batch, keep)

        def our_way(texts=texts, settings=settings):
            return pruned_vectors(model, texts, keep, settings, Counter(), progress(disable=True))

        one = dict(list(texts.items())[:1])
        their_way(one), our_way(one)  # whatever is compiled or allocated once
        yield versus(
            Way(their_way, count),
            Way(our_way, count),
            rounds,
            equal=lambda left, right: same_vectors(left, *right),
            ceiling=arithmetic(flops / count),
            clock=clock,
            work="encode",
            model=name,
            batch=batch,
            r=keep,
        )


def train_step(name: str, model: Epic, count: int, rounds: int):
    """One step of Adam over some triples."""
    theirs, examples = plain.PlainEpic(model).train(), inputs.triples(model.train(), count, seed=3)
    few = examples[:2]
    loss = plain.train_step(theirs, None, few)
    losses = LOSSES["one-minus-softmax"](scores_of(model, few))  # (B,)
    losses.mean().backward()
    equal = abs(loss - losses.mean().item()) < 1e-5 and same_gradients(theirs, model)
    theirs.zero_grad()
    model.zero_grad()
    adam = torch.optim.Adam(theirs.parameters(), lr=2e-5)
    settings = TrainSettings(
        batch_size=count, micro_batch_size=count, learning_rate=2e-5, learning_rate_new_layers=2e-5, validate_every=count,
        validation_hits=1, validation_first_stage="none", validation_token_budget=512, patience=1, max_validations=1,
        max_tokens=None, precision="float32", threads=1,
    )  # fmt: skip
    learner = Learner.of(model, settings, "one-minus-softmax")
    plain.train_step(theirs, adam, few)  # Adam's own memory is there from now on, in both
    learner.learn(few, 1)
    asked = sum(len(example.query) / count for example in examples)
    flops = 3 * forward_flops(model, [len(ids) for example in examples for ids in example[2:]], int(asked))
    yield versus(
        Way(lambda: plain.train_step(theirs, adam, examples)),
        Way(lambda: learner.learn(examples, 1)),
        rounds,
        equal=lambda left, right: equal and abs(left - right[0]) < 1e-3,
        ceiling=arithmetic(flops),
        work="train-step",
        model=name,
        batch=count,
    )
    model.eval()


def pruning(folder: Path, documents: int, rs: tuple[int, ...], rounds: int):
    """A store with the most terms to one with fewer, on disk; ours with checksums, read and written."""
    inputs.write_store(folder / "wide", documents, max(rs))
    for keep in rs[:-1]:
        wide, file, out = Store(folder / "wide"), folder / "plain.v", folder / "narrow"

        def their_way(wide=wide, keep=keep, file=file):
            file.write_bytes(plain.prune(wide.terms, wide.weights, keep))
            return file

        def our_way(wide=wide, keep=keep, out=out):
            prune([wide.path], keep, documents, out)
            return Store(out)

        yield versus(
            Way(their_way, documents),
            Way(our_way, documents),
            rounds,
            equal=lambda left, right: same_vectors(left.read_bytes(), right.terms, right.weights),
            ceiling=copying(4 * (wide.keep + keep)),
            work="prune",
            r=keep,
        )
        shutil.rmtree(out)


def lookups(folder: Path, scale: Scale, notes: dict):
    """Scores of k candidates a query from a store in the page cache."""
    inputs.write_store(folder / f"r{max(scale.rs)}", scale.documents, max(scale.rs))
    for keep in scale.rs:
        if keep != max(scale.rs):
            prune([folder / f"r{max(scale.rs)}"], keep, scale.documents, folder / f"r{keep}")
        opened = perf_counter()
        store = Store(folder / f"r{keep}")
        notes.setdefault("store opens in ms", {})[f"r={keep}, {len(store)} passages"] = round((perf_counter() - opened) * 1e3, 2)
        terms, weights = np.array(store.terms).view(np.int16), np.array(store.weights)  # in memory, as theirs are by default
        for k in scale.ks:
            queries, docs = _asked(k, scale.documents, store.vocabulary)

            first = _sparse(queries[0], store.vocabulary)

            def their_way(query=first, ids=docs[0], terms=terms, weights=weights):
                return plain.lookup(terms, weights, [int(doc_id) for doc_id in ids], query)

            def our_way(queries=queries, docs=docs, store=store):
                return [scores(store, ids, query) for ids, query in zip(docs, queries, strict=True)]

            our_way()  # every page of these rows is mapped from now on
            yield versus(
                Way(their_way),
                Way(our_way, len(queries)),
                scale.light_rounds,
                equal=lambda left, right: same_scores(left, right[0]),
                ceiling=copying(4 * keep * k),
                work="lookup",
                k=k,
                r=keep,
            )
            notes.setdefault("numpy gather, us a query", {})[f"k={k}, r={keep}"] = _gather(store, docs, queries, our_way())


def _asked(k: int, documents: int, vocabulary: int, count: int = 20) -> tuple[list[QueryVector], list[list[str]]]:
    return inputs.query_vectors(count, vocabulary, seed=k), inputs.candidates(count, documents, k, seed=k)


def _sparse(query: QueryVector, vocabulary: int) -> torch.Tensor:
    terms = torch.from_numpy(query.terms.astype(np.int64))
    places = torch.stack((torch.zeros_like(terms), terms))
    return torch.sparse_coo_tensor(places, torch.from_numpy(query.weights), (1, vocabulary), check_invariants=False).coalesce()


def _gather(store: Store, docs, queries, ours) -> float:
    """For information: the same with numpy alone, a dense table of the query's weights read at all terms of the rows."""
    table, found = np.zeros(store.vocabulary, dtype=np.float32), []
    start = perf_counter()
    for ids, query in zip(docs, queries, strict=True):
        rows = np.array([int(doc_id) for doc_id in ids])
        table[query.terms] = query.weights
        found.append((table[store.terms[rows]] * store.weights[rows]).sum(axis=1))
        table[query.terms] = 0
    took = (perf_counter() - start) / len(docs) * 1e6
    if not all(same_scores(left, right) for left, right in zip(found, ours, strict=True)):
        raise AssertionError("the numpy gather gives other scores")
    return round(took, 1)


def dense_lookups(folder: Path, scale: Scale):
    """Scores of k candidates a query from unpruned vectors."""
    path, vocabulary = folder / "dense.f16", inputs.VOCABULARY
    np.random.default_rng(5).random((scale.dense_documents, vocabulary), dtype=np.float32).astype(np.float16).tofile(path)
    vectors, content = Mapped(path, np.float16, (scale.dense_documents, vocabulary)), path.read_bytes()
    for k in scale.ks:
        queries, docs = _asked(k, scale.dense_documents, vocabulary)
        sparse, rows = [_sparse(query, vocabulary) for query in queries], [np.array(ids, dtype=np.int64) for ids in docs]

        def their_way(sparse=sparse, docs=docs):
            return plain.dense_lookup(content, vocabulary, [int(doc_id) for doc_id in docs[0]], sparse[0])

        def our_way(queries=queries, rows=rows):
            return [dense_dot(vectors.array, found, query) for found, query in zip(rows, queries, strict=True)]

        yield versus(
            Way(their_way),
            Way(our_way, len(queries)),
            scale.light_rounds,
            equal=lambda left, right: same_scores(left, right[0]),
            ceiling=copying(2 * 8 * k),
            work="lookup",
            k=k,
        )


def cold_lookups(folder: Path, scale: Scale, notes: dict, keep: int = KEEP):
    """The same from a store that is not in the page cache, by the wall clock; the plain way is a plain memory map."""
    keep = min(keep, max(scale.rs))
    path, shape = folder / f"r{keep}", (scale.documents, keep)
    held = {}
    for k in scale.cold_ks:
        queries, docs = _asked(k, scale.documents, inputs.VOCABULARY)
        rows = np.array(docs[0], dtype=np.int64)

        def drop(path=path):
            held.clear()
            for name in ("terms.u16", "weights.f16"):
                with open(path / name, "rb") as stream:
                    os.fsync(stream.fileno())  # what is not on disk yet stays in memory
                    os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

        def map_plainly(path=path, drop=drop):
            drop()
            held["terms"] = np.memmap(path / "terms.u16", np.uint16, "r", shape=shape)
            held["weights"] = np.memmap(path / "weights.f16", np.float16, "r", shape=shape)

        def open_ours(path=path, drop=drop):
            drop()
            held["store"] = Store(path)

        def their_way(rows=rows, queries=queries):
            return dot(held["terms"], held["weights"], rows, queries[0])

        def our_way(docs=docs, queries=queries):
            return scores(held["store"], docs[0], queries[0])

        drop()
        asked = Mapped(path / "terms.u16", np.uint16, shape)
        kept = sum(asked.in_memory(row[None]) for row in rows)
        del asked
        if kept > len(rows) // 4:
            notes["cold"] = f"not measured: {kept} of {len(rows)} rows stay in the page cache when they are dropped from it"
            return
        yield versus(
            Way(their_way, before=map_plainly),
            Way(our_way, before=open_ours),
            scale.light_rounds,
            equal=np.array_equal,
            clock=perf_counter,
            work="lookup-cold",
            k=k,
            r=keep,
        )
    held.clear()


def queries(name: str, model: Epic, folder: Path, rounds: int):
    """One query at a time, word-pieces included: transformers in torch against ONNX Runtime."""
    theirs = plain.PlainEpic(model).eval()
    checkpoint = folder / f"checkpoint-{name}"
    model.save_pretrained(checkpoint)
    session, asked = Session(checkpoint, threads=1), inputs.QUERIES

    def their_way():
        return [plain.query_vector(theirs, model.pieces([text])[0]) for text in asked]

    def our_way():
        return [session.query_vector(text) for text in asked]

    their_way(), our_way()
    body = sum(weight.numel() for part, weight in model.body.named_parameters() if "embeddings" not in part)
    yield versus(
        Way(their_way, len(asked)),
        Way(our_way, len(asked)),
        3 * rounds,
        equal=lambda left, right: all(same_queries(*pair) for pair in zip(left, right, strict=True)),
        ceiling=copying(4 * body),
        work="query",
        model=name,
        batch=1,
    )
