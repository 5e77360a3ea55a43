"""The state that a training run needs to go on after an interruption: saved whole at every validation.

FOLDER/KEY/iteration-00003/        weights, Adam's moments, random number generators, history; safetensors and JSON
FOLDER/KEY/best-00002.safetensors  the weights of the best validation so far

KEY stands for settings, code and inputs: a run with others starts over and leaves this state alone. A new state gets a
new name and the old one is removed afterwards, so there is a complete one at every moment. All of it stays until
Snakemake has recorded the checkpoint (epic.planning.repair).
"""

import hashlib
import json
import logging
import shutil
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from epic.core.files import InputError, read_json, replacing, sha256_of, write_json
from epic.model.checkpoint import load_weights, save_weights
from epic.training.history import Iteration, best_of

log = logging.getLogger(__name__)


def key_of(settings, paths) -> str:
    """Return a digest of all that must not change before a run goes on: settings, code, torch, and the bytes of all inputs."""
    files = [file for path in map(Path, paths) for file in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    sums = [sha256_of(file) for file in files if file.is_file()]
    return hashlib.sha256(json.dumps([settings, torch.__version__, sums], sort_keys=True).encode()).hexdigest()


class State:
    """The saved state of one training run."""

    def __init__(self, folder, key: str):
        self.folder, self.key = Path(folder, key[:16]), key

    def save(self, history: list[Iteration], model, optimizer, scaler) -> None:
        """Save the run as it is after its last validation; if that fails, the state of the validation before stays."""
        try:
            self._save(history, model, optimizer, scaler)
        except (OSError, SafetensorError) as error:
            after = self._saved()[-1].name.replace("-", " ") if self._saved() else "the beginning"
            raise InputError(
                f"{self.folder}: the state of training cannot be saved ({error}); free space (df -h) or files (df -i) there, "
                f"and run again: training goes on after {after}"
            ) from error

    def _save(self, history: list[Iteration], model, optimizer, scaler) -> None:
        best = best_of(history).iteration
        if best == len(history):
            with replacing(self._best(best)) as draft:
                save_weights(model, draft)
        saved = self.folder / f"iteration-{len(history):05d}"
        with replacing(saved) as draft:
            draft.mkdir()
            save_weights(model, draft / "weights.safetensors")
            save_file(_flat(optimizer), draft / "optimizer.safetensors")
            save_file(_generators(model), draft / "generators.safetensors")
            sums = {file.name: sha256_of(file) for file in sorted(draft.iterdir())}
            sums["best"] = sha256_of(self._best(best))
            facts = {"key": self.key, "history": history, "scaler": scaler.state_dict(), "sha256": sums}
            write_json(draft / "state.json", facts | {"own": _digest(facts)})
        for path in self._saved()[:-1]:  # the new ones are on the disk
            shutil.rmtree(path)
        for path in self.folder.glob("best-*"):
            if path != self._best(best):
                path.unlink()

    def resume(self, model, optimizer, scaler) -> list[Iteration]:
        """Put a saved run back into `model` and the rest, and return its history; an empty one if no run was saved."""
        for saved in reversed(self._saved()):
            try:
                history, scales = self._checked(saved)
            except (InputError, FileNotFoundError, KeyError, TypeError, AttributeError) as error:
                log.warning("%s cannot be used: %s", saved, error)
                continue
            load_weights(model, saved / "weights.safetensors")
            _restore(optimizer, load_file(saved / "optimizer.safetensors"))
            scaler.load_state_dict(scales)
            generators = load_file(saved / "generators.safetensors")
            torch.set_rng_state(generators.pop("cpu"))
            if "cuda" in generators:
                torch.cuda.set_rng_state(generators["cuda"])
            log.info("going on after iteration %d, triple %d", len(history), history[-1].triples)
            return history
        shutil.rmtree(self.folder, ignore_errors=True)
        return []

    def load_best(self, history: list[Iteration], model) -> None:
        """Roll back to the best validation."""
        load_weights(model, self._best(best_of(history).iteration))

    def _best(self, iteration: int) -> Path:
        return self.folder / f"best-{iteration:05d}.safetensors"

    def _saved(self) -> list[Path]:
        return sorted(self.folder.glob("iteration-*"))

    def _checked(self, saved: Path) -> tuple[list[Iteration], dict]:
        facts = read_json(saved / "state.json")
        if facts.pop("own") != _digest(facts):
            raise InputError(f"{saved / 'state.json'} is damaged")
        if facts["key"] != self.key:
            raise InputError("it belongs to other settings, code or data")
        history = [Iteration(*line) for line in facts["history"]]
        best = self._best(best_of(history).iteration)
        for name, expected in facts["sha256"].items():
            file = best if name == "best" else saved / name
            if sha256_of(file) != expected:
                raise InputError(f"{file} is damaged")
        return history, facts["scaler"]


def _digest(facts: dict) -> str:
    """Return a digest of what a file of state says, so that a number in it cannot change unseen."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _flat(optimizer) -> dict[str, torch.Tensor]:
    """Return Adam's state by parameter, in the form that safetensors needs."""
    state = optimizer.state_dict()["state"]
    return {f"{place}.{name}": value.cpu().contiguous() for place, values in state.items() for name, value in values.items()}


def _restore(optimizer, flat: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in flat.items():
        place, _, key = name.partition(".")
        state.setdefault(int(place), {})[key] = value.clone()  # a tensor of its own, aligned like a new one
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def _generators(model) -> dict[str, torch.Tensor]:
    """Return the states of torch's generators, on the CPU and on the model's GPU; training draws from no other."""
    device = next(model.parameters()).device
    return {"cpu": torch.get_rng_state()} | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})
