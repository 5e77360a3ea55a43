"""Training: triples in order, gradient accumulation, validation by re-ranking, roll-back to the best.

`family` is a module of `epic.rankers`; `ranker` is the object it created.
"""

import logging
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from epic.core.files import InputError
from epic.core.log import progress
from epic.experiment.settings import TrainSettings
from epic.model.device import PRECISIONS
from epic.training.examples import Example, Examples
from epic.training.history import Iteration, best_of
from epic.training.loss import LOSSES
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

    An interrupted run goes on after its last validation, and ends with the same weights as one without interruption.
    Without a loss the model stays as it is, needs no examples, and the history is empty.
    """
    if loss is None:
        return []
    torch.manual_seed(seed)
    learner = Learner.of(family, ranker, settings, loss)
    history = state.resume(ranker, learner.optimizer, learner.scaler)
    while not finished(history, settings, len(examples)):
        start, began = (history[-1].triples if history else 0), perf_counter()
        stop = min(start + settings.validate_every, len(examples))
        found = learner.learn(examples.between(start, stop), len(history) + 1)
        value = validate(family, ranker, examples.documents, validation)
        history.append(Iteration(len(history) + 1, stop, *found, value, round(perf_counter() - began, 1)))
        log.info("iteration %d: %d triples, loss %.4f, accuracy %.3f, validation MRR@10 %.4f, %.0f s", *history[-1])
        state.save(history, ranker, learner.optimizer, learner.scaler)
    best = best_of(history)
    log.info("best: iteration %d of %d, MRR@10 %.4f", best.iteration, len(history), best.validation)
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
    optimizer: torch.optim.Adam
    scaler: torch.amp.GradScaler

    @classmethod
    def of(cls, family, ranker: nn.Module, settings: TrainSettings, loss: str) -> "Learner":
        """Make Adam with a learning rate of its own for the layers that start at random."""
        scaler = torch.amp.GradScaler(kind_of(ranker), enabled=settings.precision == "float16")
        named = list(ranker.named_parameters())
        new = [value for name, value in named if name.startswith(tuple(family.NEW_LAYERS))]
        rest = [value for name, value in named if not name.startswith(tuple(family.NEW_LAYERS))]
        groups = [{"params": rest, "lr": settings.learning_rate}, {"params": new, "lr": settings.learning_rate_new_layers}]
        return cls(
            family, ranker, settings, loss, torch.optim.Adam([group for group in groups if group["params"]], fused=True), scaler
        )

    def learn(self, examples: list[Example], iteration: int) -> tuple[float, float]:
        """Pass once over examples in batches; return the mean loss and the share of pairs in the right order."""
        self.ranker.train()
        total, right, settings = 0.0, 0, self.settings
        batches = list(slices(examples, settings.batch_size))
        for step, batch in enumerate(progress(batches, desc=f"iteration {iteration}", unit="batch"), start=1):
            for part in slices(batch, settings.micro_batch_size):
                with torch.autocast(kind_of(self.ranker), PRECISIONS[settings.precision], settings.precision != "float32"):
                    scores = self.family.pair_scores(self.ranker, part, settings.max_tokens)  # (B, 2)
                losses = LOSSES[self.loss](scores.float() if scores.dtype != torch.float64 else scores)  # (B,)
                self._finite(losses, part, iteration, step)
                self.scaler.scale(losses.sum() / len(batch)).backward()
                total += losses.sum().item()
                right += int((scores[:, 0] > scores[:, 1]).sum())
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
        return total / len(examples), right / len(examples)

    def _finite(self, losses: Tensor, part: list[Example], iteration: int, step: int) -> None:
        bad = [example.triple for example, ok in zip(part, losses.isfinite().tolist(), strict=True) if not ok]
        if bad:
            named = "query {}, passages {} and {}".format(*bad[0])
            raise InputError(
                f"the loss is not finite in iteration {iteration}, step {step} at {named} ({len(bad)} such); "
                "lower train.learning_rate, or set train.precision to float32"
            )


def kind_of(ranker: nn.Module) -> str:
    """Return the kind of device that a ranker lies on."""
    return next(ranker.parameters()).device.type


def slices(items: list, size: int):
    """Return consecutive slices of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))
