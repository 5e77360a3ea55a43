"""A card tried out: its vectors beside the CPU's, and how fast it is. Minutes, before hours are spent.

The model is untrained, of either formulation: what is compared and timed does not depend on its weights.
"""

import logging
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from epic.core.files import ROOT, InputError
from epic.core.machine import cards, usable_cores
from epic.core.terminal import columns
from epic.corpus.datasets import load
from epic.corpus.irds_downloads import fetched
from epic.corpus.text_files import Triple, texts
from epic.experiment.check import load_experiments
from epic.experiment.settings import TrainSettings
from epic.planning import flop, probes
from epic.planning.cards import keep_rates
from epic.vectors.agreement import Agreement, agreement

log = logging.getLogger(__name__)
COLLECTION, PASSAGES = "msmarco-passage", 2000
LISTS = (10, 1000)  # strongest terms
SINCE = {
    "float32": (0, 0),
    "float16": (7, 0),
    "tf32": (8, 0),
    "bfloat16": (8, 0),
}  # the first generation of cards with such cores
QUERIES, WORDS = 200, 6  # queries that are timed, made of a passage's first words
WARM_UP = 32  # passages, triples and queries that are not timed


class Found(NamedTuple):
    """What was found at one precision: lists that differ from the CPU's, by length, and how much is done in a second."""

    precision: str
    lists: list[Agreement]
    rates: dict[str, float]  # passages, triples, queries, and operations of encoding and training


def usable(device: str) -> str:
    """Return the name of the card, or of the device; refuse a machine without a card that torch can use."""
    if device != "cuda":
        return device
    check = probes.gpu()
    if check.remedy and not check.warning:
        raise InputError(f"{check.need}: {check.found}; {check.remedy}")
    import torch

    return torch.cuda.get_device_name()


def precisions(device: str) -> list[str]:
    """List the precisions that are tried: those that a card has cores for, and that the code knows."""
    from epic.model.device import PRECISIONS

    if device != "cuda":
        return ["float32", "bfloat16"]
    generation = next((card.capability for card in cards() if card.capability), (0, 0))
    return [name for name, since in SINCE.items() if since <= generation and name in PRECISIONS]


def passages_of(file, count: int) -> dict[str, str]:
    """Return the first passages by id: of a file with lines of id and text, or of MS MARCO, whose store is not built for it."""
    if file:
        return dict(islice(texts(file), count))
    found = fetched(COLLECTION, lambda: list(islice(load(COLLECTION).docs_iter(), count)))
    return {doc.doc_id: doc.default_text() for doc in found}


def pinned() -> dict:
    """Return the settings of the paper's experiment."""
    return load_experiments([ROOT / "workflow" / "experiments"])["paper"]


def write_checkpoint(encoder: str | None, formulation: str, folder: Path) -> Path:
    """Write an untrained model: on the encoder that the paper's experiment pins, or on another one."""
    from epic.model.encoder import encoder_folder, prepare_encoder
    from epic.model.epic import EpicModel

    if encoder is None:
        source = pinned()["models"][0]["encoder"]
        prepare_encoder(source["source"], source["revision"], source["sha256"], folder / "encoder")
    start = encoder_folder(encoder, None) if encoder else folder / "encoder"
    EpicModel.from_encoder(start, formulation, seed=42).eval().save_pretrained(folder / "checkpoint")
    return folder / "checkpoint"


def try_out(checkpoint, device: str, passages: dict[str, str], settings: dict, triples: int) -> Iterator[Found]:
    """Yield what is found, precision by precision; the CPU's own vectors are in float32."""
    threads = usable_cores()
    expected = _vectors(_loaded(checkpoint, "cpu", "float32", threads), passages, settings["encode"]["token_budget"], settings)
    for precision in precisions(device):
        model = _loaded(checkpoint, device, precision, threads)
        budget = settings["encode"]["token_budget"] // 2  # other batches than the CPU's
        found = _vectors(model, passages, budget, settings)
        lists = [agreement(expected, found, min(keep, model.vocabulary)) for keep in LISTS]
        rates = _encoding(model, passages, settings) | _queries(model, passages)
        del model
        yield Found(precision, lists, rates | _training(checkpoint, device, precision, passages, settings, triples))


def _loaded(checkpoint, device: str, precision: str, threads: int):
    from epic.model.epic import load_model

    return load_model(checkpoint, {"device": device, "precision": precision, "threads": threads})


def _vectors(model, passages: dict[str, str], budget: int, settings: dict) -> np.ndarray:
    """Return all vectors, unpruned, in float16, (n, V)."""
    from epic.vectors.phi import vectors_by_batch

    pieces = dict(zip(passages, model.pieces(passages.values()), strict=True))
    found = np.empty((len(passages), model.vocabulary), dtype=np.float16)  # (n, V)
    for rows, vectors in vectors_by_batch(model, pieces, budget, settings["encode"]["vocabulary_block"]):
        found[rows] = vectors
    return found


def _encoding(model, passages: dict[str, str], settings: dict) -> dict[str, float]:
    """Time encoding as the stage does it, but for reading and writing."""
    from epic.vectors.batches import Budget
    from epic.vectors.encode import pruned_vectors
    from epic.vectors.tokenise import Passages
    from epic.vectors.value_counts import Counter

    pieces = model.pieces(passages.values())
    whole = Passages(list(passages), pieces, None)
    bar, block = SimpleNamespace(update=lambda _: None), settings["encode"]["vocabulary_block"]
    keep = min(max(settings["encode"]["keep"]), model.vocabulary)
    for some in (Passages(whole.doc_ids[:WARM_UP], pieces[:WARM_UP], None), whole):
        began = perf_counter()
        pruned_vectors(model, some, keep, Budget(settings["encode"]["token_budget"]), block, Counter(), bar)
    seconds, shape = perf_counter() - began, shape_of(model)
    work = sum(flop.passage(shape, len(ids) + 2) for ids in pieces)
    return {"passages": len(pieces) / seconds, "encode_flops": work / seconds}


def _queries(model, passages: dict[str, str]) -> dict[str, float]:
    """Time queries one by one."""
    from epic.model.query_torch import query_vector

    asked = [" ".join(text.split()[:WORDS]) or "a" for text in islice(passages.values(), QUERIES)]
    for text in asked[:WARM_UP]:
        query_vector(model, text)
    began = perf_counter()
    for text in asked:
        query_vector(model, text)
    return {"queries": len(asked) / (perf_counter() - began)}


def _training(checkpoint, device: str, precision: str, passages, settings: dict, triples: int) -> dict[str, float]:
    """Time steps of training; a precision that training does not know counts as float32."""
    from epic.model.device import give_back_memory
    from epic.model.epic import EpicModel
    from epic.rankers import epic as family
    from epic.training.examples import Example
    from epic.training.train import Learner

    known = precision if precision in ("float32", "float16", "bfloat16") else "float32"
    ranker = EpicModel.from_pretrained(checkpoint, device)
    learner = Learner.of(family, ranker, TrainSettings(**settings["train"] | {"precision": known}), "cross-entropy")
    given = [text for text in passages.values() if text.strip()] or ["a"]
    pairs = islice(zip(cycle(given), cycle(given[1:] + given[:1]), strict=False), WARM_UP + triples)
    examples = [Example(Triple("q", "a", "b"), " ".join(one.split()[:WORDS]), one, other) for one, other in pairs]
    learner.learn(examples[:WARM_UP], 0)
    began = perf_counter()
    learner.learn(examples[WARM_UP:], 1)
    seconds, shape = perf_counter() - began, shape_of(ranker)
    work = sum(
        flop.BACKWARD
        * sum(flop.body(shape, len(ids) + 2) for ids in ranker.pieces([example.query, example.relevant, example.other]))
        for example in examples[WARM_UP:]
    )
    del learner, ranker
    give_back_memory()
    return {"triples": triples / seconds, "train_flops": work / seconds}


def shape_of(model) -> flop.Shape:
    """Return the sizes of a model's encoder, a BERT."""
    sizes = (model.body.config[name] for name in ("num_hidden_layers", "hidden_size", "intermediate_size"))
    return flop.Shape(*sizes, model.vocabulary)


def table(found: list[Found]) -> str:
    """Lay out what was found in columns."""
    head = ("precision", *(f"top {keep} reordered" for keep in LISTS), "beyond a step", "passages/s", "triples/s", "queries/s")
    lines = [
        (
            one.precision,
            *(f"{lists.reordered} of {lists.lists}" for lists in one.lists),
            str(max(lists.beyond for lists in one.lists)),
            *(f"{one.rates[what]:,.1f}" for what in ("passages", "triples", "queries")),
        )
        for one in found
    ]
    return "\n".join(f"  {line}" for line in columns([head, *lines], texts=1))


def check_card(device: str, file, count: int, encoder: str | None, formulation: str, triples: int) -> str:
    """Try a card out, say what was found, and keep its rates for the plan; refuse one whose float32 is not the CPU's."""
    name, settings = usable(device), pinned()
    passages = passages_of(file, count)
    log.info("%s: %d passages of %s; the CPU computes them first", name, len(passages), file or COLLECTION)
    with tempfile.TemporaryDirectory(prefix="epic-card-") as folder:
        checkpoint = write_checkpoint(encoder, formulation, Path(folder))
        found = list(try_out(checkpoint, device, passages, settings, triples))
    said = f"{name}: vectors of {len(passages)} passages beside the CPU's in float32, and rates\n\n{table(found)}\n"
    wrong = max(lists.beyond for lists in found[0].lists)
    if wrong:
        raise InputError(
            f"{said}\n{wrong} lists in float32 differ from the CPU's by more than a float16 step: results would differ"
        )
    if device != "cuda":
        return said
    return (
        f"{said}\nthe plan counts with these rates from now on: {keep_rates(name, {one.precision: one.rates for one in found})}"
    )
