"""A run by Terrier, whose DPH no other engine here has, as a file that an experiment can take for a first stage.

PyTerrier is no dependency of this package: Terrier itself comes from Maven when PyTerrier is first used. The API is that of
python-terrier 1.0.
"""

import importlib
import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from epic.core.files import InputError
from epic.corpus.datasets import load
from epic.corpus.documents import Documents, build, refuse_unknown_field
from epic.corpus.irds_downloads import fetched
from epic.corpus.runs import Run, ScoredDoc, write_run

log = logging.getLogger(__name__)
INSTALL = (
    "pip install python-terrier==1.0.* in an environment of its own will do; it needs Java, and the network once for Terrier"
)
LONGEST = 512  # letters of an id that Terrier keeps


def terrier_run(dataset: str, field: str | None, model: str, hits: int, out) -> None:
    """Write the first `hits` of every query of a dataset, by one of Terrier's models, with Terrier's own stemmer and stop words.

    field: the field of the documents that is indexed; None for what the dataset takes for their text.
    """
    terrier = _terrier()
    refuse_unknown_field(dataset, field)
    fetched(dataset, lambda: build(dataset))
    asked = fetched(dataset, lambda: list(load(dataset).queries_iter()))
    queries = {query.query_id: " ".join(query.default_text().split()) for query in asked}
    with tempfile.TemporaryDirectory() as folder:
        indexer = terrier.IterDictIndexer(str(Path(folder) / "index"), meta={"docno": LONGEST}, text_attrs=["text"])
        index = indexer.index(rows(Documents(dataset, field)))
        found = _searched(terrier.Retriever(index, wmodel=model, num_results=hits), queries)
    write_run(out, run_of(found, queries), model)


def _terrier():
    """Return PyTerrier's Terrier, or say how to install it."""
    try:
        terrier = importlib.import_module("pyterrier").terrier
    except (ImportError, AttributeError) as error:
        raise InputError(f"PyTerrier 1.0 is not installed ({error}); {INSTALL}") from error
    if absent := [name for name in ("IterDictIndexer", "Retriever") if not hasattr(terrier, name)]:
        raise InputError(f"this PyTerrier has no terrier.{absent[0]}: it is older than 1.0; {INSTALL}")
    return terrier


def rows(documents: Documents) -> Iterator[dict[str, str]]:
    """Yield id and text of every row of a collection, those of one id, too: so did whoever indexed the collection by its rows."""
    for doc_id, text in documents.rows():
        yield {"docno": doc_id, "text": text}


def _searched(retriever, queries: dict[str, str]) -> list[tuple[str, str, int, float]]:
    """Return (query id, document id, rank, score) of all hits."""
    import pandas as pd

    asked = pd.DataFrame({"qid": queries.keys(), "query": queries.values()})
    found = retriever.transform(asked)
    return list(zip(found["qid"], found["docno"], found["rank"].astype(int), found["score"].astype(float), strict=True))


def run_of(found: Iterable[tuple[str, str, int, float]], queries: dict[str, str]) -> Run:
    """Return the run in the order of the queries and of the ranks; of a document that comes twice, the first hit stays."""
    run, again = {query_id: {} for query_id in queries}, 0
    for query_id, doc_id, _, score in sorted(found, key=lambda hit: hit[2]):
        again += doc_id in run[query_id]
        run[query_id].setdefault(doc_id, score)
    if again:
        log.info("%d hits have the id of a better one and are left out", again)
    return {query_id: [ScoredDoc(*hit) for hit in hits.items()] for query_id, hits in run.items() if hits}
