"""The works that are compared: each function yields records, after it has made sure that both ways give the same."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import torch

from epic.core.log import progress
from epic.experiment.settings import TrainSettings
from epic.model.epic import EpicModel
from epic.model.query_onnx import Session
from epic.model.query_onnx_export import export
from epic.rankers import epic as family
from epic.training.loss import LOSSES
from epic.training.train import Learner
from epic.vectors.batches import Budget
from epic.vectors.encode import pruned_vectors
from epic.vectors.prune import prune
from epic.vectors.store import Store
from epic.vectors.tokenise import Passages
from epic.vectors.value_counts import Counter
from tests.bench import inputs, plain
from tests.bench.equality import same_gradients, same_queries, same_vectors
from tests.bench.measure import Way, arithmetic, copying, reading, versus

KEEP, BLOCK = 1000, 1024  # terms kept of an encoded passage; vocabulary entries at a time
PIECES = 96  # word-pieces of a passage, about


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    rounds: int  # of works that take seconds
    light_rounds: int  # of the others
    batches: dict[int, int]  # of encoding: how many passages at each batch size of the plain way
    base_passages: int
    sparse_passages: int  # of encoding against SparseEncoder: several batches, so that sorting by length is of use to it
    core_passages: int  # of each of two shards
    candidates: int  # of each of four queries, for a cross-encoder
    triples: int
    documents: int  # in the store that is looked up
    dense_documents: int
    ks: tuple[int, ...]
    rs: tuple[int, ...]
    cold_ks: tuple[int, ...]
    prune_documents: int


def steps_of(count: int) -> TrainSettings:
    """Settings of training in steps of so many triples."""
    return TrainSettings(
        batch_size=count, micro_batch_size=count, learning_rate=2e-5, learning_rate_new_layers=2e-5, validate_every=count,
        validation_hits=1, validation_first_stage="none", validation_token_budget=512, patience=1, max_validations=1,
        max_tokens=None, precision="float32", threads=1,
    )  # fmt: skip


def forward_flops(model: EpicModel, lengths: list[int], terms: int) -> float:
    """Floating point operations of encoding texts without padding: the body, the head's transform and `terms` columns."""
    config = model.body.config
    e, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    body = sum(layers * ((8 * e * e + 4 * e * inner) * (n + 2) + 4 * e * (n + 2) ** 2) for n in lengths)
    return body + sum(lengths) * (2 * e * e + 2 * e * terms)


def encode(name: str, model: EpicModel, batches: dict[int, int], rounds: int, keep: int = KEEP, clock=process_time):
    """Passages to pruned vectors in memory, from their text on; they are as long and as unequal as usual.

    Our batches are counted in word-pieces: up to 96 for each passage of a batch of theirs.
    """
    theirs = plain.PlainEpic(model).eval()
    for batch, count in batches.items():
        texts = inputs.texts(count, inputs.typical_seed(count, batch))
        flops = forward_flops(model, [len(ids) for ids in model.pieces(texts.values())], model.vocabulary)

        def their_way(texts=texts, batch=batch):
            return plain.encode(theirs, model.pieces(texts.values()), batch, keep)

        def our_way(texts=texts, budget=PIECES * batch):
            some = Passages(list(texts), model.pieces(texts.values()), None)
            return pruned_vectors(model, some, keep, Budget(budget), BLOCK, Counter(), progress(disable=True))

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


def train_step(name: str, model: EpicModel, count: int, rounds: int):
    """One step of Adam over some triples."""
    theirs, examples = plain.PlainEpic(model.train()).train(), inputs.triples(count, seed=3)
    few, pieces = examples[:2], inputs.as_pieces(model, examples)
    loss = plain.train_step(theirs, None, pieces[:2])
    losses = LOSSES["one-minus-softmax"](family.pair_scores(model, few, None))  # (B,)
    losses.mean().backward()
    equal = abs(loss - losses.mean().item()) < 1e-5 and same_gradients(theirs, model)
    theirs.zero_grad()
    model.zero_grad()
    adam = torch.optim.Adam(theirs.parameters(), lr=2e-5)
    learner = Learner.of(family, model, steps_of(count), "one-minus-softmax")
    plain.train_step(theirs, adam, pieces[:2])  # Adam's own memory is there from now on, in both
    learner.learn(few, 1)
    asked = sum(len(example.query) / count for example in pieces)
    flops = 3 * forward_flops(model, [len(ids) for example in pieces for ids in example[2:]], int(asked))
    yield versus(
        Way(lambda: plain.train_step(theirs, adam, pieces)),
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
            plain.prune(wide.path, wide.keep, keep, file)
            return file

        def our_way(wide=wide, keep=keep, out=out):
            prune([wide.path], keep, documents, out)
            return Store(out)

        yield versus(
            Way(their_way, documents),
            Way(our_way, documents),
            rounds,
            equal=lambda left, right: same_vectors(left.read_bytes(), right.terms, right.weights),
            ceiling=copying(2 * (wide.keep + keep)),  # a copied byte is read and written
            work="prune",
            r=keep,
        )
        shutil.rmtree(out)


def queries(name: str, model: EpicModel, folder: Path, rounds: int):
    """One query at a time, word-pieces included: transformers in torch against ONNX Runtime."""
    theirs = plain.PlainEpic(model).eval()
    checkpoint = folder / f"checkpoint-{name}"
    model.save_pretrained(checkpoint)
    export(checkpoint)
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
        ceiling=reading(4 * body),
        work="query",
        model=name,
        batch=1,
    )
