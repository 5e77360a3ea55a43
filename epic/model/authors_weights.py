"""The authors' trained weights: their state dict, renamed to ours.

Two archives hold it: `epic.p`, and the tar for PyTerrier with a member weights.p. Its formulation is `released`.
"""

import logging
import shutil
import tarfile
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from epic.core.archives import is_gzip, reading, refuse_bomb, unpacked
from epic.core.files import InputError, digest_of
from epic.model.epic import EpicModel
from epic.model.older_formats import read_pickled

log = logging.getLogger(__name__)
PUBLISHED = {
    "df756649ba3c449cf0f462083ef6082d": "epic.p",
    "2f6a16be1a6a63aab1e8fed55521a4db": "epic.msmarco.tar.gz",
}
BODY, HEAD = "encoder.bert.bert.", "encoder.bert.cls.predictions."
THEIRS = {  # by our names; the body's names only lose a prefix
    "equations.theta1": "query_salience",
    "equations.theta3": "doc_salience",
    "equations.theta4": "doc_quality",
    "equations.dense": f"{HEAD}transform.dense",
    "equations.norm": f"{HEAD}transform.LayerNorm",
}
WORDS = f"{BODY}embeddings.word_embeddings.weight"
DECODER = f"{HEAD}decoder.weight"  # the word embeddings once more; code that saves each parameter once omits it
NOT_USED = ("_nil", "encoder.bert.cls.seq_relationship.", "encoder.bert.bert.cls.")  # a dummy, and heads that nobody reads


def read_authors(path, md5s: list[str] | None) -> dict[str, Tensor]:
    """Read the authors' state dict; refuse a file whose md5 is not among `md5s`, unless that is None."""
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file; docs/model.md says where the authors' weights are")
    md5 = digest_of(path, "md5")
    if md5s is not None and md5 not in md5s:
        raise InputError(f"{path}: md5 {md5}, expected {' or '.join(md5s)}; fetch it again, or say that another file is meant")
    state = read_state(path)
    log.info("%s: %d weights (%s)", path, len(state), PUBLISHED.get(md5, "not a published file"))
    return state


def load_authors(model: EpicModel, state: dict[str, Tensor], path) -> None:
    """Put the state dict that was read from `path` into an untrained `released` model."""
    if model.formulation != "released":
        raise InputError(f"{path} holds weights of the released formulation; this model's is {model.formulation}")
    expected = {theirs(name): (name, tensor.shape) for name, tensor in model.state_dict().items()}
    problems = [f"{name} is missing" for name in expected if name not in state]
    problems += [
        f"{name[:100]} is unknown" for name in state if not (name in expected or name == DECODER or name.startswith(NOT_USED))
    ]
    problems += [
        f"{name} has the shape {tuple(state[name].shape)}, this encoder needs {tuple(shape)}"
        for name, (_, shape) in expected.items()
        if name in state and state[name].shape != shape
    ]
    right = [name for name, (_, shape) in expected.items() if name in state and state[name].shape == shape]
    problems += [f"{name} holds values that are not finite numbers" for name in right if not _is_finite(state[name])]
    if not problems and DECODER in state and not _is_same(state[DECODER], state[WORDS]):
        problems.append(f"{DECODER} is not tied to the word embeddings, as it is in the released code")
    if problems:
        more = [f"and {len(problems) - 10} more"] if len(problems) > 10 else []
        raise InputError("\n".join([f"{path} is not EPIC's state dict for this encoder:", *problems[:10], *more]))
    model.load_state_dict({ours: state[name] for name, (ours, _) in expected.items()})


def _is_finite(tensor: Tensor) -> bool:
    """Tell whether a tensor holds finite floats; called after its shape is known to be right."""
    return tensor.is_floating_point() and tensor.layout == torch.strided and bool(torch.isfinite(tensor).all())


def _is_same(one: Tensor, other: Tensor) -> bool:
    return (one.shape, one.dtype, one.layout) == (other.shape, other.dtype, other.layout) and torch.equal(one, other)


def theirs(name: str) -> str:
    """Return the authors' name of one of our weights."""
    if name == "equations.bias":
        return f"{HEAD}bias"
    stem, _, kind = name.rpartition(".")
    return f"{THEIRS[stem]}.{kind}" if stem in THEIRS else BODY + name.removeprefix("body.")


def read_state(path) -> dict[str, Tensor]:
    """Read the state dict of either archive, without running code from it."""
    with reading(path):
        if not is_gzip(path) and not tarfile.is_tarfile(path):
            return read_pickled(path)
        with unpacked(path) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            return _from_tar(archive, path)


def _from_tar(archive: tarfile.TarFile, path) -> dict[str, Tensor]:
    for member in archive:
        refuse_bomb(path, member.offset_data + member.size)
        if member.isfile() and Path(member.name).name == "weights.p":
            with tempfile.TemporaryDirectory() as folder:
                with open(Path(folder, "weights.p"), "wb") as out:
                    shutil.copyfileobj(archive.extractfile(member), out)  # torch wants a file it can map
                return read_pickled(Path(folder, "weights.p"), path)
    raise InputError(f"{path}: the archive has no weights.p")


def starting_model(encoder, entry: dict, weights, device: str = "cpu") -> EpicModel:
    """Make the model of an experiment's entry; `weights` is the file that its `start` names, or nothing."""
    model = EpicModel.from_encoder(encoder, entry["settings"]["formulation"], entry["seed"])
    model.released_batches = entry["settings"].get("released_batches", False)
    if weights:
        md5 = entry["start"]["md5"]
        load_authors(model, read_authors(weights, [md5] if md5 else None), weights)
    return model.to(device).eval()
