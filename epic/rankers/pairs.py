"""Families that only score pairs of a query and a passage: everything but the score itself.

A family's module has a class `Ranker`, a torch module, best a `PairRanker`, with
    Ranker(settings, folder)              settings: of its model in the experiment; folder: of its encoder or vocabulary, the
                                          checkpoint itself when it is loaded (`is_checkpoint`), or None
    FILES                                 the files of that folder that a checkpoint keeps, beside ranker.json and weights
    query(text), passage(text, limit)     word or word-piece numbers; `limit` cuts after so many
    scores(queries, passages)             scores (n,) of n pairs of such
    pairs(queries, passages)              the same of texts; enough by itself
and takes the functions below by name.
"""

import logging
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns

import numpy as np
import torch
from torch import Tensor, nn

from epic.core.files import InputError, replacing, sha256_of, write_json, write_text
from epic.core.log import progress
from epic.core.places import placeless
from epic.corpus.documents import open_documents
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import read_queries
from epic.experiment.families import declared, odd_settings, refuse_unfit
from epic.model.checkpoint import WEIGHTS, load_weights, save_weights
from epic.model.device import PRECISIONS, give_back_memory, out_of_memory, prepare
from epic.model.facts import naming, read_facts
from epic.rankers import family

log = logging.getLogger(__name__)
NEW_LAYERS = ()
FACTS, OF_ENCODER = "ranker.json", ("config.json", "tokenizer.json")
PASSAGES_AT_A_TIME = 20_000  # whose texts and numbers are in memory; a large query set has millions of candidates
AT_QUERY_TIME = 16_384  # words or word-pieces of a batch, where nothing else is asked for


class PairRanker(nn.Module, ABC):
    """A ranker that turns texts into numbers first, once a text; one that lacks an abstract method cannot be made."""

    FILES = OF_ENCODER

    @abstractmethod
    def query(self, text: str) -> list[int]:
        """Return the numbers of a query's words or word-pieces; their count is its cost."""

    @abstractmethod
    def passage(self, text: str, limit: int | None = None) -> list[int]:
        """Return the numbers of a passage's words or word-pieces, at most `limit`."""

    @abstractmethod
    def scores(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return scores (n,) of n pairs of numbered texts."""

    def passages(self, texts: list[str], limit: int | None = None) -> list[list[int]]:
        """Return the numbers of many passages; a family that is faster with many at once does it its own way."""
        return [self.passage(text, limit) for text in texts]

    def pairs(self, queries: list[str], passages: list[str]) -> Tensor:
        """Return scores (n,) of n pairs of texts."""
        return self.scores([self.query(text) for text in queries], self.passages(passages))


class OfTexts:
    """A ranker that only scores pairs of texts, behind the same interface: its numbers are the texts."""

    def __init__(self, ranker: nn.Module):
        self.scores = ranker.pairs

    def query(self, text: str) -> str:
        """Return the query as it is."""
        return text

    def passages(self, texts: list[str], limit: int | None = None) -> list[str]:
        """Return the passages, cut after `limit` words."""
        return list(texts) if limit is None else [" ".join(text.split()[:limit]) for text in texts]


def numbered(ranker) -> "PairRanker | OfTexts":
    """Return what turns texts into numbers and scores them."""
    return ranker if hasattr(ranker, "scores") else OfTexts(ranker)


def is_checkpoint(folder) -> bool:
    """Tell whether a folder is a saved ranker's: its weights are loaded over everything, so none need be read before."""
    return folder is not None and (Path(folder) / FACTS).exists()


def create(encoder, model: dict, start, device: str):
    """Make a ranker before training; encoder: the folder of its encoder or its vocabulary, if it has one."""
    refuse_unfit(declared(model["family"]), model["settings"], _config_in(encoder))
    torch.manual_seed(model["seed"])
    ranker = family(model["family"]).Ranker(model["settings"], encoder or None)
    ranker.facts, ranker.folder = {"family": model["family"], "settings": model["settings"]}, encoder or None
    return ranker.to(device).eval()


def save(ranker, out, readme) -> None:
    """Write a checkpoint; do not replace a folder with other contents."""
    if Path(out).is_dir() and any(Path(out).iterdir()) and not (Path(out) / FACTS).exists():
        raise InputError(f"{out} exists and is no checkpoint; name a new folder")
    with replacing(out) as draft:
        draft.mkdir()
        kept = getattr(ranker, "FILES", OF_ENCODER) if ranker.folder else ()
        write_json(draft / FACTS, placeless(ranker.facts) | {"files": list(kept)})  # it goes wherever the checkpoint goes
        for name in kept:
            shutil.copyfile(Path(ranker.folder) / name, draft / name)
        save_weights(ranker, draft / WEIGHTS)
        write_text(draft / "README.md", readme(sha256_of(draft / WEIGHTS)))


def load(checkpoint, compute: dict):
    """Load a trained ranker, ready for inference."""
    path = Path(checkpoint)
    if not is_checkpoint(path):
        raise InputError(f"{path}: not a checkpoint of this kind (no {FACTS})")
    facts = facts_of(path)
    folder = path if facts["files"] else None
    with naming(path, FACTS):
        ranker = _made(facts, folder)
        refuse_unfit(declared(facts["family"]), facts["settings"], _config_in(folder))
    ranker.facts, ranker.folder = {key: facts[key] for key in ("family", "settings")}, folder
    load_weights(ranker, path / WEIGHTS, FACTS)
    ranker.precision = PRECISIONS[compute["precision"]]
    return ranker.to(prepare(compute["device"], compute["threads"], compute["precision"])).eval()


def _made(facts: dict, folder) -> nn.Module:
    """Make a ranker whose weights follow; refuse sizes that no memory holds, which a damaged file may have."""
    try:
        return family(facts["family"]).Ranker(facts["settings"], folder)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        raise InputError(f"memory ran out; are its settings those of {WEIGHTS}? Make the checkpoint again") from error


def facts_of(checkpoint) -> dict:
    """Read ranker.json: family, settings and files of a checkpoint; refuse one that is damaged, or whose files are not there."""
    path = Path(checkpoint) / FACTS
    facts = read_facts(path)
    files = facts.get("files")
    if not isinstance(facts.get("family"), str):
        raise InputError(f"{path}: it names no family; make the checkpoint again")
    try:
        known = declared(facts["family"])
    except InputError as error:
        raise InputError(f"{path}: {error} (on Python's path)") from error
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise InputError(f"{path}: it does not say which files the checkpoint has; make the checkpoint again")
    if absent := [name for name in files if not (path.parent / name).is_file()]:
        raise InputError(f"{path.parent / absent[0]}: there is no such file; make the checkpoint again, or copy it anew")
    for place, said in odd_settings(known, facts.get("settings")):
        raise InputError(f"{path}: {'.'.join(map(str, ('settings', *place)))}: {said}; make the checkpoint again")
    with naming(path.parent, FACTS):
        refuse_unfit(known, facts["settings"], {})
    return facts


def _config_in(folder) -> dict:
    """Return config.json of an encoder's folder; {} where there is none, as beside a vocabulary."""
    path = Path(folder) / OF_ENCODER[0] if folder else None
    return read_facts(path) if path and path.exists() else {}


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    use = ["from epic import load_ranker", "", 'load_ranker("this folder").score("a query", ["a passage", "another"])']
    return {"title": model["family"], "text": "Passage re-ranking by scores of pairs of a query and a passage.", "use": use}


def pair_scores(ranker, examples: list, limit: int | None) -> Tensor:
    """Return scores of the relevant and the other passage of each example; passages are cut after `limit` words or pieces."""
    return numbered(ranker).scores(*numbered_examples(ranker, examples, limit)).view(-1, 2)  # (B, 2)


def numbered_examples(ranker, examples: list, limit: int | None) -> tuple[list, list]:
    """Return the queries and the passages of B examples as 2B numbered pairs."""
    texts = numbered(ranker)
    queries = [query for query in (texts.query(example.query) for example in examples) for _ in range(2)]
    return queries, texts.passages([text for example in examples for text in (example.relevant, example.other)], limit)


def score(ranker, run: dict, queries: dict[str, str], documents, budget: int) -> dict:
    """Return the run with the ranker's scores; a text is numbered once, and a batch holds candidates of any queries.

    budget: the words or word-pieces of a batch.
    """
    texts, rows = numbered(ranker), {}  # rows: document id -> its number, in the order of the run
    wanted = np.array([rows.setdefault(hit.doc_id, len(rows)) for hits in run.values() for hit in hits], dtype=np.int64)  # (n,)
    owners = np.repeat(np.arange(len(run)), [len(hits) for hits in run.values()])  # (n,) the query of each pair
    order, doc_ids, values = np.argsort(wanted, kind="stable"), list(rows), np.empty(len(wanted))  # (n,), and scores (n,)
    by_document = wanted[order]  # (n,) ascending
    asked = [texts.query(queries[query_id]) for query_id in run]
    with progress(total=len(wanted), desc="pairs", unit="pair") as bar:
        for start in range(0, len(doc_ids), PASSAGES_AT_A_TIME):
            some = doc_ids[start : start + PASSAGES_AT_A_TIME]
            passages = texts.passages(documents.texts(some))
            these = order[slice(*np.searchsorted(by_document, [start, start + len(some)]))]  # (m,)
            pairs = [asked[owner] for owner in owners[these]], [passages[row - start] for row in wanted[these]]
            values[these] = scores_of(ranker, *pairs, budget, bar.update)
    refuse_unless_finite(values, run, owners)
    found = iter(values.tolist())
    return {query_id: [ScoredDoc(hit.doc_id, next(found)) for hit in hits] for query_id, hits in run.items()}


def refuse_unless_finite(values: np.ndarray, run: dict, owners: np.ndarray) -> None:
    """Refuse scores (n,) of a run that are no numbers: they would be sorted somewhere without a word."""
    if bad := np.flatnonzero(~np.isfinite(values)).tolist():
        hit = [hit for hits in run.values() for hit in hits][bad[0]]
        raise InputError(
            f"query {list(run)[owners[bad[0]]]}, document {hit.doc_id}: the score is not finite ({len(bad)} such); "
            "set compute.precision to float32, or train with a lower rate"
        )


def scores_of(ranker, queries: list, passages: list, budget: int, done: Callable = lambda pairs: None) -> np.ndarray:
    """Return scores (n,) of n pairs of numbered texts, in the ranker's precision, longest first so that a batch is of like
    lengths and at most `budget` in all. Batches are smaller from now on if memory runs out; `done` gets their sizes."""
    sizes = np.array([_size(query) + _size(passage) for query, passage in zip(queries, passages, strict=True)], dtype=np.int64)
    order = np.argsort(-sizes, kind="stable")  # (n,)
    ends, values, start = np.cumsum(sizes[order]), np.empty(len(sizes)), 0  # (n,), (n,)
    kind, precision = next(ranker.parameters()).device.type, getattr(ranker, "precision", torch.float32)
    with torch.inference_mode(), torch.autocast(kind, precision, enabled=precision != torch.float32):
        while start < len(order):
            most = min(budget, getattr(ranker, "budget", budget))
            before = ends[start - 1] if start else 0
            some = order[start : max(start + 1, np.searchsorted(ends, before + most, side="right"))]
            found = _unless_too_large(ranker, [queries[pair] for pair in some], [passages[pair] for pair in some])
            if found is None:
                ranker.budget = int(sizes[some].sum()) // 2
                log.warning("memory ran out with %d pairs at a time; going on with %d words a batch", len(some), ranker.budget)
                give_back_memory()
            else:
                values[some], start = found, start + len(some)
                done(len(some))
    return values


def _size(text: list[int] | str) -> int:
    """Return the cost of a numbered text, or of one that stays a text."""
    return len(text.split()) if isinstance(text, str) else len(text)


def _unless_too_large(ranker, queries: list, passages: list) -> list[float] | None:
    """Return the scores, None if they do not fit into memory; the error goes, since it holds on to the tensors."""
    try:
        return numbered(ranker).scores(queries, passages).float().tolist()
    except (RuntimeError, MemoryError) as error:
        if len(passages) == 1 or not out_of_memory(error):
            raise
        return None


def scores_of_texts(ranker, query: str, texts: list[str], budget: int = AT_QUERY_TIME) -> np.ndarray:
    """Return the scores (n,) of n passages for one query."""
    source = numbered(ranker)
    return scores_of(ranker, [source.query(query)] * len(texts), source.passages(texts), budget)


def score_run(run: dict, files, compute: dict, budget: int) -> dict:
    """Return the run with the ranker's scores, from an experiment's files."""
    return score(load(files.checkpoint, compute), run, read_queries(files.queries), open_documents(files.manifest), budget)


def timed(search, files, queries: dict[str, str], row: dict, settings: dict, bench):
    """Set up a row at query time."""
    ranker = bench.once(("ranker", files.checkpoint), lambda: load(files.checkpoint, settings["compute"]))
    return Timed(search, files, ranker, settings.get("encode", {}).get("token_budget", AT_QUERY_TIME))


class Timed:
    """A row at query time: retrieval, then the texts of the hits, then their scores."""

    def __init__(self, search, files, ranker, budget: int):
        self.search, self.documents, self.ranker, self.budget = search, open_documents(files.manifest), ranker, budget
        self.on_disk = [self.documents.folder]

    @contextmanager
    def opened(self):
        """Yield a function that times one query."""
        yield self.time_one

    def time_one(self, text: str) -> dict[str, int]:
        """Return the nanoseconds of one query by stage."""
        start = perf_counter_ns()
        doc_ids = self.search(text)
        retrieved = perf_counter_ns()
        texts = self.documents.texts(doc_ids)
        loaded = perf_counter_ns()
        values = scores_of_texts(self.ranker, text, texts, self.budget)
        sorted(zip((-values).tolist(), doc_ids, strict=True))
        end = perf_counter_ns()
        return {"retrieve": retrieved - start, "load": loaded - retrieved, "score": end - loaded, "total": end - start}
