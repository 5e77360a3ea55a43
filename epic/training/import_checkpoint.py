"""The authors' weights as a checkpoint of ours, for use outside an experiment."""

from pathlib import Path

from epic.authors import load_authors, read_authors
from epic.card import save_checkpoint
from epic.encoder import encoder_folder
from epic.files import digest_of, sha256_of
from epic.model import Epic


def import_checkpoint(path, out, encoder: str, revision: str | None, md5s: list[str] | None) -> None:
    """Write a checkpoint of the authors' weights; config and tokenizer come from the encoder they started from."""
    state = read_authors(path, md5s)  # before anything is fetched
    folder = encoder_folder(encoder, revision)
    model = Epic.from_encoder(folder, "released", seed=0)
    load_authors(model, state, path)
    source = {"source": encoder, "revision": revision, "sha256": sha256_of(folder / "model.safetensors")}
    start = {"source": Path(path).name, "md5": digest_of(path, "md5")}
    entry = {"id": "authors", "formulation": "released", "encoder": source, "loss": None, "seed": None, "start": start}
    save_checkpoint(model, out, None, entry, {}, {}, [])
