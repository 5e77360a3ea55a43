"""The authors' weights as a checkpoint of ours, for use outside an experiment."""

from functools import partial
from pathlib import Path

from epic.core.files import digest_of, sha256_of
from epic.model.authors_weights import load_authors, read_authors
from epic.model.encoder import encoder_folder
from epic.model.epic import EpicModel
from epic.rankers import epic as family
from epic.training.card import model_card


def import_checkpoint(path, out, encoder: str, revision: str | None, md5s: list[str] | None) -> None:
    """Write a checkpoint of the authors' weights; config and tokenizer come from the encoder they started from."""
    state = read_authors(path, md5s)  # before any download
    folder = encoder_folder(encoder, revision)
    model = EpicModel.from_encoder(folder, "released", seed=0)
    load_authors(model, state, path)
    source = {"source": encoder, "revision": revision, "sha256": sha256_of(folder / "model.safetensors")}
    start = {"source": Path(path).name, "md5": digest_of(path, "md5")}
    entry = {"id": "authors", "family": "epic", "settings": {"formulation": "released"}, "encoder": source, "start": start}
    entry |= {"loss": None, "seed": None}
    family.save(model, out, partial(model_card, family.card(entry), None, entry, {}, {}, None, []))
