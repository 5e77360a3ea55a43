"""The authors' trained weights: their state dict, renamed to ours.

Two archives hold it: `epic.p`, and the tar for PyTerrier with a member weights.p. Theirs is the `released` formulation.
"""

import logging
import tarfile
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from epic.card import model_card
from epic.encoder import encoder_folder
from epic.files import InputError, digest_of, sha256_of
from epic.model import Epic

log = logging.getLogger(__name__)
PUBLISHED = {
    "df756649ba3c449cf0f462083ef6082d": "epic.p",
    "2f6a16be1a6a63aab1e8fed55521a4db": "epic.msmarco.tar.gz",
}
HEAD = "encoder.bert.cls.predictions."
OURS = {  # the last layers; the body's names only lose a prefix
    "query_salience": "equations.theta1",
    "doc_salience": "equations.theta3",
    "doc_quality": "equations.theta4",
    f"{HEAD}transform.dense": "equations.dense",
    f"{HEAD}transform.LayerNorm": "equations.norm",
}
BODY = "encoder.bert.bert."
NOT_USED = ("_nil", "encoder.bert.cls.seq_relationship.", "encoder.bert.bert.cls.")  # a dummy, and heads nothing reads


def import_checkpoint(path, out, encoder: str, revision: str | None, md5s: list[str] | None) -> None:
    """Write a checkpoint of the authors' weights; config and tokenizer come from the encoder they started from."""
    folder = encoder_folder(encoder, revision)
    model = Epic.from_encoder(folder, "released", seed=0)
    load_authors(model, path, md5s)
    source = {"source": encoder, "revision": revision, "sha256": sha256_of(folder / "model.safetensors")}
    start = {"source": Path(path).name, "md5": digest_of(path, "md5")}
    entry = {"id": "authors", "formulation": "released", "encoder": source, "loss": None, "seed": None, "start": start}
    model.save_pretrained(out, model_card("none (imported)", entry, {}, {}, []))


def load_authors(model: Epic, path, md5s: list[str] | None) -> None:
    """Put the authors' weights into an untrained `released` model; a file whose md5 is not listed is refused, unless None."""
    if model.formulation != "released":
        raise InputError(f"{path} holds weights of the released formulation; this model's is {model.formulation}")
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file; the README says where the authors' weights are")
    md5 = digest_of(path, "md5")
    if md5s is not None and md5 not in md5s:
        raise InputError(f"{path}: md5 {md5}, expected {' or '.join(md5s)}; fetch it again, or say that another file is meant")
    theirs = read_state(path)
    decoder, words = theirs.pop(f"{HEAD}decoder.weight", None), theirs.get(f"{BODY}embeddings.word_embeddings.weight")
    if decoder is not None and words is not None and not torch.equal(decoder, words):
        raise InputError(f"{path}: {HEAD}decoder.weight is not tied to the word embeddings, as the released code has it")
    renamed = {ours(name): (name, tensor) for name, tensor in theirs.items() if not name.startswith(NOT_USED)}
    expected = model.state_dict()
    problems = [f"no weight for {name}" for name in expected if name not in renamed]
    problems += [f"{theirs} is unknown" for name, (theirs, _) in renamed.items() if name not in expected]
    problems += [
        f"{theirs} has the shape {tuple(tensor.shape)}, this encoder needs {tuple(expected[name].shape)}"
        for name, (theirs, tensor) in renamed.items()
        if name in expected and tensor.shape != expected[name].shape
    ]
    if problems:
        raise InputError("\n".join([f"{path} is not EPIC's state dict for this encoder:", *problems[:10]]))
    model.load_state_dict({name: tensor for name, (_, tensor) in renamed.items()})
    log.info("%s: %d weights (%s)", path, len(renamed), PUBLISHED.get(md5, "not a published file"))


def ours(name: str) -> str:
    """Our name of one of their weights; a name that is not theirs stays as it is, to be refused."""
    if name == f"{HEAD}bias":
        return "equations.bias"
    stem, _, kind = name.rpartition(".")
    if stem in OURS:
        return f"{OURS[stem]}.{kind}"
    return f"body.{name.removeprefix(BODY)}" if name.startswith(BODY) else name


def read_state(path) -> dict[str, Tensor]:
    """The state dict of either archive, read without running code from it."""
    if not tarfile.is_tarfile(path):
        return _load(path, path)
    with tarfile.open(path) as archive, tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        member = next((member for member in archive if Path(member.name).name == "weights.p"), None)
        if member is None:
            raise InputError(f"{path}: the archive has no weights.p")
        member.name = "weights.p"  # whatever folder it lies in
        archive.extract(member, folder, filter="data")
        return _load(Path(folder, "weights.p"), path)


def _load(file, path) -> dict[str, Tensor]:
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds, from EOFError to UnpicklingError
        raise InputError(f"{path}: torch cannot read it as weights ({repr(error)[:200]})") from error
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        raise InputError(f"{path}: not a state dict")
    return found
