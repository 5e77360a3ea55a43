"""The inputs that jobs read from elsewhere: their sizes, and those that are not on this machine yet.

Nothing is fetched here. ir_datasets knows the files that each part of a dataset is made from, and where it keeps them.
"""

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from epic.core.files import numbered_lines
from epic.corpus.datasets import load
from epic.corpus.fetch import kept_at
from epic.corpus.folder import MADE, Folder, folder_of
from epic.experiment.generation import generator_named
from epic.experiment.lookup import encoder_named, is_pruned, is_replayed, model_rows
from epic.experiment.measurements import rows_timed
from epic.first_stage.generator import WANTED
from epic.model.encoder import ALL, CONFIG, TOKENIZERS, WEIGHTS, is_cached
from epic.planning import rates
from epic.planning.estimates import Collection, Job, size_of_download
from epic.planning.flop import WORD_PIECES
from epic.planning.generating import weights_of
from epic.planning.probes import disk_of

READ_DOCUMENTS = {
    "data", "queries", "triples", "generate", "recall", "regress", "reweigh", "expand", "train", "tokenise", "passages",
    "candidates", "tune", "replay", "interpret", "vocabulary",
}  # fmt: skip
UNKNOWN = 1000  # queries of a set that ir_datasets has not counted


class Absent(NamedTuple):
    """A file to fetch or to build; any of `hosts` serves it, and `folder` grows by `size`."""

    name: str
    hosts: tuple[str, ...]  # with the port, if it is not that of https
    folder: Path
    size: float
    spare: float = 0.0  # more bytes that must be free, though they are not used
    barred: str = ""  # the setting that forbids fetching it


class Counts(dict):
    """The numbers of queries by query set, each counted when first asked for: files of sets that no job uses may be absent."""

    def __init__(self, settings: dict):
        super().__init__()
        self._datasets = {queries["id"]: queries["dataset"] for queries in settings["query_sets"]}

    def __missing__(self, query_set: str) -> int:
        self[query_set] = _count(self._datasets[query_set])
        return self[query_set]


def collection_of(settings: dict) -> Collection:
    """Return the sizes of an experiment's collection and query sets, from their files or from ir_datasets' own records."""
    passages, folder = settings["data"]["count"], existing(settings["data"]["documents"])
    if folder:
        return Collection(passages, folder.docs.stat().st_size / passages, Counts(settings))
    length = rates.PASSAGES.get(settings["data"]["documents"].partition("/")[0], rates.PASSAGE)
    return Collection(passages, length, Counts(settings), WORD_PIECES * length / rates.PASSAGE)


def existing(dataset: str) -> Folder | None:
    """Return the files of a folder; None for an ir_datasets id, and for a folder that a stage is to make."""
    return None if dataset.startswith(MADE) else folder_of(dataset)


def _count(dataset: str) -> int:
    if folder := existing(dataset):
        return sum(1 for _ in numbered_lines(folder.queries))
    if dataset.startswith(MADE):
        return UNKNOWN
    return load(dataset).queries_metadata().get("count", UNKNOWN)


def absent_sources(settings: dict, jobs: list[Job]) -> list[Absent]:
    """List all files that the jobs would fetch, each once."""
    found = [*_of_datasets(settings, jobs), *_of_hugging_face(settings, jobs), *_of_downloads(settings, jobs)]
    return list({absent.name: absent for absent in found}.values())


def _of_datasets(settings: dict, jobs: list[Job]):
    rules = {job.rule for job in jobs}
    parts = [(settings["data"]["documents"], "docs")] if _reads_documents(settings, jobs) else []
    asked = {job.wildcards["query_set"] for job in jobs if job.rule == "queries"}
    named = [queries["dataset"] for queries in settings["query_sets"] if queries["id"] in asked]
    named += settings["statistics"]["queries"] if "statistics" in rules else []
    parts += [(dataset, part) for dataset in named for part in ("queries", "qrels")]
    if "triples" in rules and "dataset" in settings["triples"]:
        parts += [(settings["triples"]["dataset"], part) for part in ("docpairs", "queries")]
    for dataset, part in parts:
        if dataset.startswith(MADE):
            continue  # pip fetches it; the preflight asks pip
        if part == "docs":
            yield from _documents(dataset, collection_of(settings))
        elif not folder_of(dataset):
            yield from downloads_of(getattr(load(dataset), f"{part}_handler")())


def _reads_documents(settings: dict, jobs: list[Job]) -> bool:
    """Tell whether a job opens the collection: a row with a store does not, a row that keeps all terms does."""
    full = {row["id"] for row in model_rows(settings) if not is_pruned(row)} | {
        row["id"] for row in settings["rows"] if "timed" in row
    }
    named = [job.wildcards["row"] for job in jobs if job.rule == "rerank"]
    named += [row["id"] for job in jobs if job.rule == "latency" for row in rows_timed(settings, job.wildcards["timed"])]
    reading = (job.rule in READ_DOCUMENTS or is_replay(settings, job) for job in jobs)
    return any(reading) or not full.isdisjoint(named)


def is_replay(settings: dict, job: Job) -> bool:
    """Tell whether a job takes over the run of a first stage, whose documents it looks up, in place of searching."""
    return job.rule == "retrieve" and is_replayed(settings, job.wildcards["first_stage"])


def _documents(dataset: str, collection: Collection):
    """Yield a collection whose document store must be built, and the files to build it from."""
    store = load(dataset).docs_store()
    if store.built():
        return
    home, text = Path(store.path).parent, collection.passages * collection.passage_bytes
    if not folder_of(dataset):
        handler = load(dataset).docs_handler()
        wanted = list(downloads_of(handler))
        yield from wanted
        path = (
            Path(handler.docs_path(force=False)) if hasattr(handler, "docs_path") else None
        )  # TREC CAR is read from its archive
        downloaded = path and any(absent.folder == path.parent and absent.name.endswith(path.name) for absent in wanted)
        if path and not path.exists() and not downloaded:
            yield Absent(f"{dataset}: text", (), home, text)  # unpacked; CORD-19's is the file that is downloaded
    size = rates.STORED * text
    wanted = 0 if os.environ.get("IR_DATASETS_SKIP_DISK_FREE", "").lower() == "true" else store.size_hint or 0
    yield Absent(
        f"{dataset}: store", (), home, size, max(0.0, wanted - size)
    )  # ir_datasets refuses to build with less than it wants


def downloads_of(part):
    """Yield downloads that a part of an ir_datasets dataset still needs; an extracted part needs none."""
    from ir_datasets.util import Cache, Download, ReTar

    if isinstance(part, Cache) and Path(part.path(force=False)).exists():
        return
    if isinstance(part, ReTar) and part._output_file.exists():  # packed again without what is not read
        return
    if isinstance(part, Download):
        place = part._cache_path and Path(part._cache_path)
        urls = [mirror.url for mirror in part.mirrors if hasattr(mirror, "url")]
        if urls and not (place and place.exists()):
            yield Absent(urls[0], _hosts(urls), place.parent if place else _temporary(), part._size_hint or 0)
        return
    if type(part).__module__.startswith("ir_datasets"):
        for inner in vars(part).values():
            yield from downloads_of(inner)


def _temporary() -> Path:
    import ir_datasets

    return Path(ir_datasets.util.tmp_path())


def _of_hugging_face(settings: dict, jobs: list[Job]):
    from huggingface_hub import constants

    hosts, barred = _hosts([constants.ENDPOINT]), "HF_HUB_OFFLINE" if constants.HF_HUB_OFFLINE else ""
    for part, wanted, size in (*_encoders(settings, jobs), *_generators(settings, jobs)):
        here = part["source"].startswith(("path:", "pypi:")) or is_cached(part["source"], part["revision"], wanted)
        if not here:
            yield Absent(part["source"], () if barred else hosts, Path(constants.HF_HUB_CACHE), size, barred=barred)


def _encoders(settings: dict, jobs: list[Job]):
    """Yield encoders that jobs prepare, and tokenizers that lie elsewhere, each with its groups of files and its size."""
    for name in dict.fromkeys(job.wildcards["encoder"] for job in jobs if job.rule == "encoder"):
        encoder = encoder_named(settings, name)
        size, tokenizer = rates.encoder_named(encoder["source"]).weights, encoder.get("tokenizer")
        yield (encoder, (CONFIG, WEIGHTS) if tokenizer else ALL, size)
        if tokenizer:
            yield (tokenizer, (TOKENIZERS,), 0)


def _generators(settings: dict, jobs: list[Job]):
    """Yield generators of queries that jobs prepare, in the same form."""
    for name in dict.fromkeys(job.wildcards["generator"] for job in jobs if job.rule == "generator"):
        generator = generator_named(settings, name)
        yield (generator, WANTED, weights_of(generator["source"]))


def _of_downloads(settings: dict, jobs: list[Job]):
    """Yield published files, into their own folder; results hold them as links if that is on the same disk."""
    asked = {job.wildcards["file"]: job for job in jobs if job.rule == "fetch"}
    for download in settings["downloads"]:
        if download["file"] not in asked:
            continue
        kept, size = kept_at(download["file"]), size_of_download(download)
        if not kept.exists():
            yield Absent(download["file"], _hosts(download["urls"]), kept.parent, size)
        if disk_of(kept.parent) != disk_of("results"):
            yield Absent(f"{download['file']}: copy", (), Path("results"), size)


def _hosts(urls) -> tuple[str, ...]:
    """Return the hosts of some addresses, each once; a port other than that of https follows its host."""
    parts = [urlsplit(url) for url in urls]
    ports = [part.port or {"http": 80}.get(part.scheme, 443) for part in parts]
    return tuple(dict.fromkeys(part.hostname + f":{port}" * (port != 443) for part, port in zip(parts, ports, strict=True)))
