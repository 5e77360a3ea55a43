"""Training: triples in order, gradient accumulation, validation by re-ranking, roll-back to the best."""

import logging
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from epic.compute import PRECISIONS
from epic.config import TrainSettings
from epic.examples import Example, Examples
from epic.files import InputError
from epic.history import Iteration, best_of
from epic.log import progress
from epic.loss import LOSSES
from epic.model import Epic
from epic.state import State
from epic.validation import Validation, validate

log = logging.getLogger(__name__)
NEW_LAYERS = ("equations.theta1", "equations.theta3", "equations.theta4")  # they start at random


def train(
    model: Epic, examples: Examples, validation: Validation, settings: TrainSettings, loss: str | None, seed: int, state: State
) -> list[Iteration]:
    """Train until validation stops improving, leave the best weights in `model`, and return the history.

    A run that was cut off goes on after its last validation, and ends with the same weights as one that was not. Without
    a loss the model stays as it is, and the history is empty.
    """
    if loss is None:
        return []
    torch.manual_seed(seed)
    learner = Learner.of(model, settings, loss)
    history = state.resume(model, learner.optimizer, learner.scaler)
    while not finished(history, settings, len(examples)):
        start, began = (history[-1].triples if history else 0), perf_counter()
        stop = min(start + settings.validate_every, len(examples))
        found = learner.learn(examples.between(start, stop, model, settings.max_tokens), len(history) + 1)
        value = validate(model, examples.documents, validation)
        history.append(Iteration(len(history) + 1, stop, *found, value, round(perf_counter() - began, 1)))
        log.info("iteration %d: %d triples, loss %.4f, accuracy %.3f, validation MRR@10 %.4f, %.0f s", *history[-1])
        state.save(history, model, learner.optimizer, learner.scaler)
    best = best_of(history)
    log.info("best: iteration %d of %d, MRR@10 %.4f", best.iteration, len(history), best.validation)
    state.load_best(history, model)
    model.eval()
    return history


def finished(history: list[Iteration], settings: TrainSettings, total: int) -> bool:
    """No triples left, enough validations, or too many without an improvement."""
    if not history:
        return False
    waited = len(history) - best_of(history).iteration
    return history[-1].triples >= total or len(history) >= settings.max_validations or waited >= settings.patience


@dataclass
class Learner:
    """A model with its optimizer. Mixed precision is autocast; float16 gradients are scaled against underflow."""

    model: Epic
    settings: TrainSettings
    loss: str
    optimizer: torch.optim.Adam
    scaler: torch.amp.GradScaler

    @classmethod
    def of(cls, model: Epic, settings: TrainSettings, loss: str) -> "Learner":
        """Adam with a learning rate of its own for the layers that start at random."""
        scaler = torch.amp.GradScaler(model.device, enabled=settings.precision == "float16")
        new = [value for name, value in model.named_parameters() if name.startswith(NEW_LAYERS)]
        rest = [value for name, value in model.named_parameters() if not name.startswith(NEW_LAYERS)]
        groups = [{"params": rest, "lr": settings.learning_rate}, {"params": new, "lr": settings.learning_rate_new_layers}]
        return cls(model, settings, loss, torch.optim.Adam(groups, fused=True), scaler)

    def learn(self, examples: list[Example], iteration: int) -> tuple[float, float]:
        """One pass over examples in batches; returns the mean loss and the share of pairs in the right order."""
        self.model.train()
        total, right, settings = 0.0, 0, self.settings
        batches = list(slices(examples, settings.batch_size))
        for step, batch in enumerate(progress(batches, desc=f"iteration {iteration}", unit="batch"), start=1):
            for part in slices(batch, settings.micro_batch_size):
                with torch.autocast(self.model.device, PRECISIONS[settings.precision], settings.precision != "float32"):
                    scores = scores_of(self.model, part)  # (B, 2)
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


def scores_of(model: Epic, examples: list[Example]) -> Tensor:
    """Scores of the relevant and the other passage of each example; each query is encoded once."""
    queries = model.query_tokens([example.query for example in examples])  # B queries
    passages = model.passage_tokens([pieces for example in examples for pieces in example[2:]])  # 2B passages
    return model.similarities(queries, passages)  # (B, 2)


def slices(items: list, size: int):
    """Consecutive slices of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))
