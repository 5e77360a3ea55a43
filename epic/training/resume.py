"""The state that a training run needs to go on after an interruption: saved whole after validations.

Not after every one, since it is four times as large as the model: after the best so far, after the last, and after others if
the last state is five minutes old. A run that goes on repeats what was not saved, and ends with the same bytes.

FOLDER/KEY/iteration-00003/        weights, Adam's moments, random number generators, history; safetensors and JSON
FOLDER/KEY/best-00002.safetensors  the weights of the best validation so far

KEY stands for settings, code and inputs: a run with others starts over and leaves this state alone. A new state gets a
new name and the old one, with the best weights that only it needs, is removed afterwards, so there is a complete one at every
moment. All of it stays until Snakemake has recorded the checkpoint (epic.planning.repair).
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import torch
from safetensors.torch import load_file

from epic.core.files import InputError, read_json, remove, replacing, sha256_of, write_json
from epic.model.checkpoint import load_weights
from epic.training.history import Iteration, best_of
from epic.training.tensor_file import write_tensors

log = logging.getLogger(__name__)
SECONDS_BETWEEN = 300  # two states, if the second one is neither the best nor the last


def key_of(settings, paths) -> str:
    """Return a digest of all that must not change before a run goes on: settings, code, torch, and the bytes of all inputs."""
    files = [file for path in map(Path, paths) for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    sums = [sha256_of(file) for file in files if file.is_file()]
    return hashlib.sha256(json.dumps([settings, torch.__version__, sums], sort_keys=True).encode()).hexdigest()


def best_number(history: list[Iteration]) -> int:
    """Return the number of the iteration with the best validation."""
    return best_of(history).iteration


class State:
    """The saved state of one training run; `clock` tells seconds.

    kind: a line of its history, whose second value says how far it went; best: gives the number of the line whose weights
    count in the end, `len` for the last.
    """

    def __init__(
        self,
        folder,
        key: str,
        clock: Callable[[], float] = monotonic,
        kind: type = Iteration,
        best: Callable[[list], int] = best_number,
    ):
        self.folder, self.key, self.clock, self.kind, self.best = Path(folder, key[:16]), key, clock, kind, best
        self._saved_at, self._sums = clock(), {}  # sums: sha256 of the best weights by iteration

    def inside(self, name: str) -> "State":
        """Return the state of a part of this run, in a folder of its own beside this one's."""
        return type(self)(self.folder.parent / name, self.key, self.clock)

    def save(self, history: list[Iteration], model, optimizer, scaler, last: bool = False) -> None:
        """Save the run as it is after a validation, if that is the best, the last, or long after the one that was saved before.

        If saving fails, the state from before stays.
        """
        is_best = self.best(history) == len(history)
        if not (is_best or last or self.is_due()):
            return
        try:
            self._save(history, model, optimizer, scaler)
        except OSError as error:
            after = self._saved()[-1].name.replace("-", " ") if self._saved() else "the beginning"
            raise InputError(
                f"{self.folder}: the state of training cannot be saved ({error}); free space (df -h) or files (df -i) there, "
                f"and run again: training goes on after {after}"
            ) from error

    def is_due(self) -> bool:
        """Tell whether the last state is so old that another one is worth its time."""
        return self.clock() - self._saved_at >= SECONDS_BETWEEN

    def _save(self, history: list[Iteration], model, optimizer, scaler) -> None:
        best, sums = self.best(history), {}
        if best == len(history):
            with replacing(self._best(best)) as draft:
                self._sums[best] = write_tensors(model.state_dict(), draft)
        saved = self.folder / f"iteration-{len(history):05d}"
        with replacing(saved) as draft:
            draft.mkdir()
            if best == len(history):
                sums["weights.safetensors"] = self._sums[best]
                _same(self._best(best), draft / "weights.safetensors")
            else:
                sums["weights.safetensors"] = write_tensors(model.state_dict(), draft / "weights.safetensors")
            sums["optimizer.safetensors"] = write_tensors(optimizer.state(), draft / "optimizer.safetensors")
            sums["generators.safetensors"] = write_tensors(_generators(model), draft / "generators.safetensors")
            sums["best"] = self._sums[best]
            facts = {"key": self.key, "history": history, "scaler": scaler.state_dict(), "sha256": sums}
            write_json(draft / "state.json", facts | {"own": _digest(facts)})
        self._saved_at = self.clock()
        for path in [*self._saved(), *self.folder.glob("best-*")]:  # the new ones are on the disk
            if path not in (saved, self._best(best)):
                remove(path)

    def resume(self, model, optimizer, scaler) -> list[Iteration]:
        """Put a saved run back into `model` and the rest, and return its history; an empty one if no run was saved."""
        for saved in reversed(self._saved()):
            try:
                history, scales, best_sum = self._checked(saved)
            except (InputError, FileNotFoundError, KeyError, TypeError, AttributeError) as error:
                log.warning("%s cannot be used: %s", saved, error)
                continue
            load_weights(model, saved / "weights.safetensors")
            optimizer.restore(load_file(saved / "optimizer.safetensors"))
            scaler.load_state_dict(scales)
            generators = load_file(saved / "generators.safetensors")
            torch.set_rng_state(generators.pop("cpu"))
            if "cuda" in generators:
                torch.cuda.set_rng_state(generators["cuda"])
            log.info("going on after iteration %d, %s %d", len(history), self.kind._fields[1].removesuffix("s"), history[-1][1])
            self._saved_at, self._sums[self.best(history)] = self.clock(), best_sum
            return history
        shutil.rmtree(self.folder, ignore_errors=True)
        return []

    def load_best(self, history: list[Iteration], model) -> None:
        """Roll back to the best validation."""
        load_weights(model, self._best(self.best(history)))

    def _best(self, iteration: int) -> Path:
        return self.folder / f"best-{iteration:05d}.safetensors"

    def _saved(self) -> list[Path]:
        return sorted(self.folder.glob("iteration-*"))

    def _checked(self, saved: Path) -> tuple[list[Iteration], dict, str]:
        """Return history, scale of gradients and the sum of the best weights of a state; refuse one that is damaged."""
        facts = read_json(saved / "state.json")
        if facts.pop("own") != _digest(facts):
            raise InputError(f"{saved / 'state.json'} is damaged")
        if facts["key"] != self.key:
            raise InputError("it belongs to other settings, code or data")
        history = [self.kind(*line) for line in facts["history"]]
        best = self._best(self.best(history))
        for name, expected in facts["sha256"].items():
            file = best if name == "best" else saved / name
            if sha256_of(file) != expected:
                raise InputError(f"{file} is damaged")
        return history, facts["scaler"], facts["sha256"]["best"]


def _same(source: Path, path: Path) -> None:
    """Give a file that is never written to a second name; where a disk knows no such links, copy it."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)


def _digest(facts: dict) -> str:
    """Return a digest of what a file of state says, so that a number in it cannot change unseen."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _generators(model) -> dict[str, torch.Tensor]:
    """Return the states of torch's generators, on the CPU and on the model's GPU; training draws from no other."""
    device = next(model.parameters()).device
    return {"cpu": torch.get_rng_state()} | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})
