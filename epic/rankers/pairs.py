"""Families that only score pairs of a query and a passage: everything but the score itself.

A family's module has a class `Ranker`, a torch module with
    Ranker(settings, encoder)             settings: of its model in the experiment; encoder: a folder, or None
    pairs(queries, passages)              scores (n,) of n pairs of texts
and takes the functions below by name. A checkpoint holds ranker.json, model.safetensors, and, if there is an encoder, its
config and tokenizer.
"""

import logging
import shutil
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns

from epic.core.files import InputError, read_json, replacing, sha256_of, write_json, write_text
from epic.core.log import progress
from epic.corpus.documents import open_documents
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import read_queries
from epic.model.checkpoint import WEIGHTS, load_weights, save_weights
from epic.rankers import family

log = logging.getLogger(__name__)
NEW_LAYERS = ()
FACTS, OF_ENCODER = "ranker.json", ("config.json", "tokenizer.json")
PAIRS_AT_A_TIME = 32


def create(encoder, model: dict, start, device: str):
    """Make a ranker before training."""
    import torch

    torch.manual_seed(model["seed"])
    ranker = family(model["family"]).Ranker(model["settings"], encoder or None)
    ranker.facts, ranker.encoder = {"family": model["family"], "settings": model["settings"]}, encoder or None
    return ranker.to(device).eval()


def save(ranker, out, readme) -> None:
    """Write a checkpoint; do not replace a folder with other contents."""
    if Path(out).is_dir() and any(Path(out).iterdir()) and not (Path(out) / FACTS).exists():
        raise InputError(f"{out} exists and is no checkpoint; name a new folder")
    with replacing(out) as draft:
        draft.mkdir()
        write_json(draft / FACTS, ranker.facts | {"encoder": bool(ranker.encoder)})
        for name in OF_ENCODER if ranker.encoder else ():
            shutil.copyfile(Path(ranker.encoder) / name, draft / name)
        save_weights(ranker, draft / WEIGHTS)
        write_text(draft / "README.md", readme(sha256_of(draft / WEIGHTS)))


def load(checkpoint, compute: dict):
    """Load a trained ranker, ready for inference."""
    from epic.model.device import PRECISIONS, prepare

    path = Path(checkpoint)
    if not (path / FACTS).exists():
        raise InputError(f"{path}: not a checkpoint of this kind (no {FACTS})")
    facts = read_json(path / FACTS)
    encoder = path if facts["encoder"] else None
    ranker = family(facts["family"]).Ranker(facts["settings"], encoder)
    ranker.facts, ranker.encoder = {key: facts[key] for key in ("family", "settings")}, encoder
    load_weights(ranker, path / WEIGHTS)
    ranker.precision = PRECISIONS[compute["precision"]]
    return ranker.to(prepare(compute["device"], compute["threads"], compute["precision"])).eval()


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    return {"title": model["family"], "text": "Passage re-ranking by scores of pairs of a query and a passage.", "use": []}


def pair_scores(ranker, examples: list, limit: int | None):
    """Return scores of the relevant and the other passage of each example; passages are cut after `limit` words."""
    texts = [_cut(text, limit) for example in examples for text in (example.relevant, example.other)]
    return ranker.pairs([example.query for example in examples for _ in range(2)], texts).view(-1, 2)  # (B, 2)


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None else " ".join(text.split()[:limit])


def score(ranker, run: dict, queries: dict[str, str], documents, budget: int) -> dict:
    """Return the run with the ranker's scores, query by query."""
    found = {}
    for query_id, hits in progress(run.items(), desc="queries", unit="query"):
        values = _scores(ranker, queries[query_id], documents.texts([hit.doc_id for hit in hits]))
        found[query_id] = [ScoredDoc(hit.doc_id, value) for hit, value in zip(hits, values, strict=True)]
    return found


def _scores(ranker, query: str, passages: list[str]) -> list[float]:
    """Score some passages for one query, a few at a time, in the ranker's precision; fewer, from now on, if memory runs out."""
    import torch

    from epic.model.device import give_back_memory

    kind, precision = next(ranker.parameters()).device.type, getattr(ranker, "precision", torch.float32)
    values: list[float] = []
    with torch.inference_mode(), torch.autocast(kind, precision, enabled=precision != torch.float32):
        while len(values) < len(passages):
            some = passages[len(values) : len(values) + getattr(ranker, "at_a_time", PAIRS_AT_A_TIME)]
            found = _unless_too_large(ranker, query, some)
            if found is None:
                ranker.at_a_time = len(some) // 2
                log.warning("memory ran out with %d passages at a time; going on with %d", len(some), ranker.at_a_time)
                give_back_memory()
            else:
                values += found
    return values


def _unless_too_large(ranker, query: str, passages: list[str]) -> list[float] | None:
    """Return the scores, None if they do not fit into memory; the error goes, since it holds on to the tensors."""
    from epic.model.device import out_of_memory

    try:
        return ranker.pairs([query] * len(passages), passages).float().tolist()
    except (RuntimeError, MemoryError) as error:
        if len(passages) == 1 or not out_of_memory(error):
            raise
        return None


def score_run(run: dict, files, compute: dict, budget: int) -> dict:
    """Return the run with the ranker's scores, from an experiment's files."""
    return score(load(files.checkpoint, compute), run, read_queries(files.queries), open_documents(files.manifest), budget)


def timed(search, files, queries: dict[str, str], row: dict, settings: dict, bench):
    """Set up a row at query time."""
    return Timed(search, files, bench.once(("ranker", files.checkpoint), lambda: load(files.checkpoint, settings["compute"])))


class Timed:
    """A row at query time: retrieval, then the texts of the hits, then their scores."""

    def __init__(self, search, files, ranker):
        self.search, self.documents, self.ranker = search, open_documents(files.manifest), ranker
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
        values = _scores(self.ranker, text, texts)
        sorted(zip([-value for value in values], doc_ids, strict=True))
        end = perf_counter_ns()
        return {"retrieve": retrieved - start, "load": loaded - retrieved, "score": end - loaded, "total": end - start}
