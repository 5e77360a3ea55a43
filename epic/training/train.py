"""Training: triples in order, gradient accumulation, validation by re-ranking, roll-back to the best.

`family` is a module of `epic.rankers`; `ranker` is the object it created.
"""

import logging
import math
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from epic.core.files import InputError
from epic.core.log import progress
from epic.experiment.measure_labels import spoken
from epic.experiment.settings import TrainSettings
from epic.model.device import PRECISIONS, out_of_memory, round_products
from epic.training.examples import Example, Examples
from epic.training.history import Iteration, best_of
from epic.training.loss import LOSSES
from epic.training.optimizer import Optimizer, factor_at, halvings, steps_of
from epic.training.resume import State
from epic.training.validation import Validation, validate

log = logging.getLogger(__name__)


def train(
    family,
    ranker,
    examples: Examples | None,
    validation: Validation,
    settings: TrainSettings,
    loss: str | None,
    seed: int,
    state: State,
) -> list[Iteration]:
    """Train until validation stops improving, leave the best weights in `ranker`, and return the history.

    An interrupted run goes on after the last validation that was saved, and ends with the same weights as one without an
    interruption. Without a loss the model stays as it is, needs no examples, and the history is empty.
    """
    if loss is None:
        return []
    round_products(False)  # whatever ran before in this process: training has a precision of its own
    torch.manual_seed(seed)
    learner = Learner.of(family, ranker, settings, loss)
    history = state.resume(ranker, learner.optimizer, learner.scaler)
    learner.steps = steps_of(history, settings)
    while not finished(history, settings, len(examples)):
        start, began = (history[-1].triples if history else 0), perf_counter()
        stop = min(start + settings.validate_every, len(examples))
        found = learner.learn(examples.between(start, stop), len(history) + 1, 0.5 ** halvings(history, settings))
        value = validate(family, ranker, examples.documents, validation)
        history.append(Iteration(len(history) + 1, stop, *found, value, round(perf_counter() - began, 1)))
        *learned, _, seconds = history[-1]
        said = spoken(validation.measure.name), value, seconds
        log.info("iteration %d: %d triples, loss %.4f, accuracy %.3f, validation %s %.4f, %.0f s", *learned, *said)
        state.save(history, ranker, learner.optimizer, learner.scaler, finished(history, settings, len(examples)))
    best = best_of(history)
    log.info("best: iteration %d of %d, %s %.4f", best.iteration, len(history), spoken(validation.measure.name), best.validation)
    state.load_best(history, ranker)
    ranker.eval()
    return history


def finished(history: list[Iteration], settings: TrainSettings, total: int) -> bool:
    """Tell whether no triples are left, there were enough validations, or too many without an improvement."""
    if not history:
        return False
    waited = len(history) - best_of(history).iteration
    return history[-1].triples >= total or len(history) >= settings.max_validations or waited >= settings.patience


@dataclass
class Learner:
    """A ranker with its optimizer. Mixed precision is autocast; float16 gradients are scaled against underflow."""

    family: Any
    ranker: nn.Module
    settings: TrainSettings
    loss: str
    optimizer: Optimizer
    scaler: torch.amp.GradScaler
    steps: int = 0  # since training began

    @classmethod
    def of(cls, family, ranker: nn.Module, settings: TrainSettings, loss: str) -> "Learner":
        """Make an optimizer that knows which layers start at random, and which have sparse gradients."""
        scaler = torch.amp.GradScaler(kind_of(ranker), enabled=settings.precision == "float16")
        new = getattr(ranker, "NEW_LAYERS", family.NEW_LAYERS)  # a ranker may know better: what its encoder had is not new
        optimizer = Optimizer(ranker, settings, tuple(new), tuple(getattr(family, "SPARSE", ())))
        return cls(family, ranker, settings, loss, optimizer, scaler)

    def learn(self, examples: list[Example], iteration: int, halved: float = 1.0) -> tuple[float, float]:
        """Pass once over examples in batches; return the mean loss and the share of pairs in the right order.

        halved: what halving left of the rates, besides their schedule.
        """
        self.ranker.train()
        total, right, settings = 0.0, 0, self.settings
        batches = list(slices(examples, settings.batch_size))
        for step, batch in enumerate(progress(batches, desc=f"iteration {iteration}", unit="batch"), start=1):
            parts, found = list(slices(batch, settings.micro_batch_size)), []
            for part in parts:
                with fitting(part, iteration, step):
                    found.append(self._add_gradients(part, len(batch)))
            for part, (*losses, summed, in_order) in zip(parts, numbers_of(found), strict=True):
                self._finite(losses, part, iteration, step)
                total, right = total + summed, right + int(in_order)
            self.optimizer.step(self.scaler, factor_at(self.steps, settings), halved)
            self.steps += 1
        return total / len(examples), right / len(examples)

    def _add_gradients(self, part: list[Example], batch_size: int) -> Tensor:
        """Add the gradients of a part of a batch; return its losses, their sum, and its pairs in the right order: (B+2,)."""
        settings = self.settings
        with torch.autocast(kind_of(self.ranker), PRECISIONS[settings.precision], settings.precision != "float32"):
            scores = self.family.pair_scores(self.ranker, part, settings.max_tokens)  # (B, 2)
        losses = LOSSES[self.loss](scores.float() if scores.dtype != torch.float64 else scores)  # (B,)
        self.scaler.scale(losses.sum() / batch_size).backward()
        right = (scores[:, 0] > scores[:, 1]).sum()
        return torch.cat([losses.detach(), torch.stack([losses.detach().sum(), right])])  # (B+2,)

    def _finite(self, losses: list[float], part: list[Example], iteration: int, step: int) -> None:
        bad = [example.triple for example, loss in zip(part, losses, strict=True) if not math.isfinite(loss)]
        if bad:
            named = "query {}, passages {} and {}".format(*bad[0])
            raise InputError(
                f"the loss is not finite in iteration {iteration}, step {step} at {named} ({len(bad)} such); "
                "lower train.learning_rate, or set train.precision to float32"
            )


@contextmanager
def fitting(part: list[Example], iteration: int, step: int):
    """Say what to lower where the triples of one forward pass do not fit into memory: fewer at a time would change the weights,
    since dropout is drawn for all of them together."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        longest = max(part, key=lambda example: len(example.relevant) + len(example.other))
        named = "query {}, passages {} and {}".format(*longest.triple)
        remedy = "set train.max_tokens" if len(part) == 1 else "lower train.micro_batch_size"
        raise InputError(
            f"memory ran out in iteration {iteration}, step {step}, with {len(part)} triples at a time, the longest at {named}; "
            f"{remedy}, and training starts over, or run where there is more memory ({str(error)[:200]})"
        ) from error


def numbers_of(tensors: list[Tensor]) -> list[list[float]]:
    """Return what several tensors of one dimension hold; a card is waited for once."""
    sizes = [len(tensor) for tensor in tensors]
    return [part.tolist() for part in torch.cat(tensors).cpu().split(sizes)]


def kind_of(ranker: nn.Module) -> str:
    """Return the kind of device that a ranker lies on."""
    return next(ranker.parameters()).device.type


def slices(items: list, size: int):
    """Return consecutive slices of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))
