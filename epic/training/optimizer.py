"""The optimizer of a training run: Adam or AdamW, SparseAdam beside it for sparse embeddings; and the course of rates.

Both are one object here: it is stepped, saved and resumed as one.
"""

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from epic.experiment.settings import TrainSettings
from epic.training.history import Iteration

THRESHOLD = 1e-4  # a best value beats the one before by this part of it, as torch's ReduceLROnPlateau has it
Named = list[tuple[str, nn.Parameter]]


class Optimizer:
    """Adam over all weights; those that start at random have a rate of their own, sparse embeddings an Adam of their own."""

    def __init__(self, ranker: nn.Module, settings: TrainSettings, new_layers: tuple[str, ...], sparse: tuple[str, ...] = ()):
        named = list(ranker.named_parameters())
        thin = [(name, value) for name, value in named if name.startswith(sparse)]
        dense = [(name, value) for name, value in named if not name.startswith(sparse)]
        groups = _groups(dense, settings, new_layers, undecayed(ranker))
        kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
        self.parts: list[torch.optim.Optimizer] = [kind(groups, fused=True)] if groups else []
        if thin:
            self.parts.append(torch.optim.SparseAdam(_rated(thin, settings, new_layers)))
        self.settings, self.dense = settings, [value for _, value in dense]
        self.rates = [[group["lr"] for group in part.param_groups] for part in self.parts]

    def step(self, scaler: torch.amp.GradScaler, factor: float, halved: float = 1.0) -> None:
        """Change the weights by their gradients, at `factor` times their rates, and forget the gradients.

        halved: what halving left of the rates; it does not touch those of sparse embeddings, as in TK's code.
        """
        for part, rates in zip(self.parts, self.rates, strict=True):
            left = factor if isinstance(part, torch.optim.SparseAdam) else factor * halved
            for group, rate in zip(part.param_groups, rates, strict=True):
                group["lr"] = rate * left
        if self.settings.clip:
            scaler.unscale_(self.parts[0])
            nn.utils.clip_grad_norm_(self.dense, self.settings.clip)
        for part in self.parts:
            scaler.step(part)
        scaler.update()
        for part in self.parts:
            part.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Return Adam's moments and steps by parameter, as tensors by name."""
        return {
            f"{_prefix(number)}{place}.{name}": torch.as_tensor(value)
            for number, part in enumerate(self.parts)
            for place, values in part.state_dict()["state"].items()
            for name, value in values.items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Put back what `state` returned."""
        for number, part in enumerate(self.parts):
            state: dict[int, dict[str, Any]] = {}
            for name, value in tensors.items():
                of_part, _, rest = name.rpartition(":")
                place, _, key = rest.partition(".")
                if of_part == (str(number) if number else ""):
                    whole = isinstance(part, torch.optim.SparseAdam) and key == "step"  # it counts in a number of Python
                    state.setdefault(int(place), {})[key] = int(value) if whole else value.clone()  # aligned like a new one
            part.load_state_dict(part.state_dict() | {"state": state})


def _prefix(number: int) -> str:
    return f"{number}:" if number else ""  # the first has none, as in states that were saved before there were others


def undecayed(ranker: nn.Module) -> set[str]:
    """Return the names of the weights that do not decay: biases and all of LayerNorm, as in BERT's own optimizer."""
    norms = [name for name, module in ranker.named_modules() if isinstance(module, nn.LayerNorm)]
    named = [name for name, _ in ranker.named_parameters()]
    return {name for name in named if name.endswith("bias") or name.rpartition(".")[0] in norms}


def _groups(named: Named, settings: TrainSettings, new_layers: tuple[str, ...], without_decay: set[str]) -> list[dict]:
    """Return the groups of weights by rate, each of them in two where there is weight decay."""
    if not settings.weight_decay:
        return _rated(named, settings, new_layers)
    decaying = [(name, value) for name, value in named if name not in without_decay]
    others = [(name, value) for name, value in named if name in without_decay]
    return [
        group | {"weight_decay": decay}
        for some, decay in ((decaying, settings.weight_decay), (others, 0.0))
        for group in _rated(some, settings, new_layers)
    ]


def _rated(named: Named, settings: TrainSettings, new_layers: tuple[str, ...]) -> list[dict]:
    new = [value for name, value in named if name.startswith(new_layers)]
    rest = [value for name, value in named if not name.startswith(new_layers)]
    groups = [{"params": rest, "lr": settings.learning_rate}, {"params": new, "lr": settings.learning_rate_new_layers}]
    return [group for group in groups if group["params"]]


def factor_at(step: int, settings: TrainSettings) -> float:
    """Return what the rates of a step are multiplied by; steps are counted from 0, as in BERT's own optimizer."""
    if settings.schedule is None:
        return 1.0
    warm_up, steps = settings.schedule["warm_up"], settings.schedule["steps"]
    return step / warm_up if step < warm_up else max(0.0, 1 - step / steps)


def halvings(history: list[Iteration], settings: TrainSettings) -> int:
    """Return how often rates were halved: after each `halve_after` + 1 validations in a row without a new best."""
    if settings.halve_after is None:
        return 0
    best, waited, found = float("-inf"), 0, 0
    for iteration in history:
        better = iteration.validation > best * (1 + THRESHOLD)
        best, waited = (iteration.validation, 0) if better else (best, waited + 1)
        if waited > settings.halve_after:
            waited, found = 0, found + 1
    return found


def steps_of(history: list[Iteration], settings: TrainSettings) -> int:
    """Return the number of batches up to the last validation; the last batch of an iteration may be smaller."""
    ends = [0, *(iteration.triples for iteration in history)]
    return sum(-(-(end - start) // settings.batch_size) for start, end in pairwise(ends))
