"""DeepCT's training: the regression of term recall, mean squared error at the first word-piece of each word.

Passages come in a new random order each time, in batches of one size across these orders, as many batches as fill the given
number of times; the learning rate rises from 0 and falls to 0. There is no validation: the last weights count.
"""

import logging
import math
from dataclasses import dataclass, fields
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from epic.core.files import InputError, write_text
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.first_stage.deepct_counts import first_pieces, words_of
from epic.first_stage.deepct_labels import Labels, read_labels
from epic.model.device import PRECISIONS, out_of_memory, round_products
from epic.model.term_weights import TermWeights
from epic.training.optimizer import Optimizer
from epic.training.resume import State

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RegressSettings:
    """Settings of DeepCT's training: the keys of a weighter's `train` that it depends on."""

    batch_size: int
    learning_rate: float
    epochs: int
    warm_up: float
    weight_decay: float
    clip: float
    report_every: int
    precision: str

    @property
    def learning_rate_new_layers(self) -> float:
        """The rate of the linear unit: that of all weights."""
        return self.learning_rate


class Portion(NamedTuple):
    """The course of training: the passages so far, and the mean loss of this portion's batches."""

    portion: int
    passages: int
    loss: float
    seconds: float


class Example(NamedTuple):
    """A passage with its labels."""

    doc_id: str
    pieces: list[int]
    firsts: list[int]  # which of the word-pieces are the first of a word
    recall: list[float]  # of these words


def trained(model: TermWeights, labels, documents: Documents, train: dict | None, state, key: str) -> list[Portion]:
    """Train a model as a weighter's `train` says on a file of labels, and return the history; leave it as it is without `train`.

    state, key: the folder for states of an interrupted run, and what must not change before it goes on.
    """
    if train is None:
        return []
    settings = RegressSettings(**{field.name: train[field.name] for field in fields(RegressSettings)})
    return regress(model, read_labels(labels), documents, settings, train["seed"], State(state, key, kind=Portion, best=len))


def regress(
    model: TermWeights, labels: list[Labels], documents: Documents, settings: RegressSettings, seed: int, state: State
) -> list[Portion]:
    """Train a model on labelled passages and return the history.

    An interrupted run goes on after the last portion that was saved, and ends with the same weights as one without an
    interruption.
    """
    steps = steps_of(len(labels), settings)
    if not steps:
        raise InputError(
            f"{len(labels)} labelled passages, {settings.epochs} times, do not fill a batch of {settings.batch_size}; "
            "lower the weighter's train.batch_size"
        )
    round_products(False)  # whatever ran before in this process: training has a precision of its own
    torch.manual_seed(seed)
    learner = Learner(model, settings, steps)
    history = state.resume(model, learner.optimizer, learner.scaler)
    while (done := learner.step_after(history)) < steps:
        began, stop = perf_counter(), min(done + settings.report_every, steps)
        order = stream(len(labels), seed, done * settings.batch_size, stop * settings.batch_size)
        loss = learner.learn(examples_of(model, [labels[place] for place in order], documents), done)
        passages = stop * settings.batch_size
        history.append(Portion(len(history) + 1, passages, loss, round(perf_counter() - began, 1)))
        log.info("portion %d: %d passages, loss %.5f, %.0f s", *history[-1])
        if stop == steps or state.is_due():
            state.save(history, model, learner.optimizer, learner.scaler, stop == steps)
    model.eval()
    return history


def steps_of(passages: int, settings: RegressSettings) -> int:
    """Return the number of batches: a last one that is not full is left out, as in DeepCT."""
    return passages * settings.epochs // settings.batch_size


def factor_at(step: int, steps: int, warm_up: int) -> float:
    """Return what the rate of a step is multiplied by: it rises from 0 over the warm-up, and falls to 0 after the last step."""
    return step / warm_up if step < warm_up else 1 - step / steps


def stream(passages: int, seed: int, start: int, stop: int) -> list[int]:
    """Return the passages at places `start` to `stop` of all orders, one behind the other; each follows from the seed."""
    rounds = range(start // passages, -(-stop // passages))
    orders = [np.random.default_rng([seed, number]).permutation(passages) for number in rounds]
    return np.concatenate(orders)[start - rounds.start * passages : stop - rounds.start * passages].tolist()


def examples_of(model: TermWeights, labels: list[Labels], documents: Documents) -> list[Example]:
    """Return passages as word-pieces, with the recall of each word at its first piece."""
    pieces = model.pieces(documents.texts([one.doc_id for one in labels]))
    return [example(model.tokens(ids), ids, one) for ids, one in zip(pieces, labels, strict=True)]


def example(tokens: list[str], pieces: list[int], labels: Labels) -> Example:
    """Return one passage with its labels; a word that ends beyond the last position is a word of its own."""
    return Example(labels.doc_id, pieces, first_pieces(tokens), [labels.recall.get(word, 0.0) for word in words_of(tokens)])


def loss_of(model: TermWeights, batch: list[Example]) -> Tensor:
    """Return the mean squared error over all words of a batch, a number."""
    weights = model([item.pieces for item in batch])  # (N,)
    before = np.cumsum([0, *(len(item.pieces) for item in batch[:-1])])  # (B,) word-pieces of the passages above
    firsts = np.concatenate([start + np.array(item.firsts) for start, item in zip(before, batch, strict=True)])  # (w,)
    recall = np.concatenate([item.recall for item in batch])  # (w,)
    chosen = weights[torch.from_numpy(firsts).to(weights.device)]  # (w,)
    chosen = chosen.float() if chosen.dtype != torch.float64 else chosen  # (w,)
    return (chosen - torch.from_numpy(recall).to(chosen)).square().mean()


class Learner:
    """A model with its optimizer. Mixed precision is autocast; float16 gradients are scaled against underflow."""

    def __init__(self, model: TermWeights, settings: RegressSettings, steps: int):
        self.model, self.settings, self.steps = model, settings, steps
        self.warm_up, self.kind = int(steps * settings.warm_up), next(model.parameters()).device.type
        self.optimizer = Optimizer(model, settings, new_layers=())
        self.scaler = torch.amp.GradScaler(self.kind, enabled=settings.precision == "float16")

    def step_after(self, history: list[Portion]) -> int:
        """Return the number of batches that a history has gone through."""
        return history[-1].passages // self.settings.batch_size if history else 0

    def learn(self, examples: list[Example], done: int) -> float:
        """Pass once over examples in batches, after so many steps, and return the mean loss of the batches."""
        self.model.train()
        losses, size = [], self.settings.batch_size
        for start in progress(range(0, len(examples), size), desc="regress", unit="batch", initial=done, total=self.steps):
            step = done + start // size
            losses.append(self._step(examples[start : start + size], step))
        return sum(losses) / len(losses)

    def _step(self, batch: list[Example], step: int) -> float:
        settings = self.settings
        try:
            with torch.autocast(self.kind, PRECISIONS[settings.precision], settings.precision != "float32"):
                loss = loss_of(self.model, batch)
            self.scaler.scale(loss).backward()
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            raise InputError(
                f"memory ran out in step {step + 1} with {len(batch)} passages at a time; lower the weighter's train.batch_size "
                f"or max_pieces, and training starts over, or run where there is more memory ({str(error)[:200]})"
            ) from error
        if not math.isfinite(value := float(loss.detach())):
            raise InputError(
                f"the loss is not finite in step {step + 1}, at passages {batch[0].doc_id} to {batch[-1].doc_id}; "
                "lower the weighter's train.learning_rate, or set its train.precision to float32"
            )
        self.optimizer.step(self.scaler, factor_at(step, self.steps, self.warm_up))
        return value


def write_portions(history: list[Portion], out) -> None:
    """Write the history as TSV; seconds differ from run to run, all else is the same."""
    lines = ["\t".join(Portion._fields), *("\t".join(map(str, portion)) for portion in history)]
    write_text(out, "\n".join(lines) + "\n")
