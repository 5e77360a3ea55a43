"""Collections made ready: documents fetched, checked and counted; queries and judgments as plain files.

Only rules that come here, to `corpus.triples` or to `analysis.statistics` may download through ir_datasets.
"""

import logging

from epic.core.files import InputError, sha256_of, write_json, write_text
from epic.core.places import from_home
from epic.corpus.datasets import load
from epic.corpus.documents import Documents, build, refuse_unknown_field
from epic.corpus.folder import folder_of, line_of
from epic.corpus.irds_downloads import fetched
from epic.corpus.published_queries import query_texts
from epic.corpus.query_counts import counts_of, write_counts

log = logging.getLogger(__name__)
REPAIRED = ("msmarco-passage",)  # some passages were encoded twice: ir_datasets undoes it, the authors indexed them as they were


def prepare_documents(dataset: str, count: int, out, field: str | None = None) -> None:
    """Fetch or check the documents, build their store, assert their count, and write the manifest.

    field: the field that is their text; None for what the dataset takes for it.
    """
    refuse_unknown_field(dataset, field)
    fetched(dataset, lambda: build(dataset))
    documents = Documents(dataset, field)
    if len(documents) != count:
        raise InputError(
            f"{dataset} has {len(documents)} documents, the experiment says {count}; "
            "correct data.count, or fetch the collection anew"
        )
    shared = f", {documents.repeated} of them with the id of a later one" if documents.repeated else ""
    log.info("%s: %d documents%s", dataset, count, shared)
    folder = folder_of(dataset)
    facts = {"documents": from_home(dataset), "field": field, "count": count, "encoding": encoding_of(dataset)}
    facts |= {"repeated": documents.repeated} if documents.repeated else {}
    write_json(out, facts | ({"sha256": sha256_of(folder.docs)} if folder else {}))


def encoding_of(dataset: str) -> str:
    """Say how the text was changed before it reached us."""
    if folder_of(dataset):
        return "as given"
    return "repaired by ir_datasets" if dataset.split("/")[0] in REPAIRED else "as ir_datasets gives it"


def prepare_queries(dataset: str, documents: Documents, queries_out, qrels_out, counts_out) -> None:
    """Write a query set as plain TSV and TREC files, and its counts; refuse judgments of unknown queries or documents."""
    folder, source = folder_of(dataset), load(dataset)
    texts, judged = fetched(dataset, lambda: (query_texts(source.queries_iter(), dataset), list(source.qrels_iter())))
    queries = {query_id: " ".join(text.split()) for query_id, text in texts.items()}
    if blank := next((query_id for query_id, text in queries.items() if not text), None):
        raise InputError(f"{folder.queries if folder else dataset}: query {blank} has no text; give it one, or leave it out")
    qrels: dict[str, dict[str, int]] = {}
    for qrel in judged:
        if qrel.query_id not in queries:
            place = line_of(folder.qrels, qrel.query_id, 0) if folder else f"the judgments of {dataset}"
            raise InputError(f"{place}: query {qrel.query_id} is judged but is not among the queries")
        qrels.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
    if absent := documents.unknown(qrel.doc_id for qrel in judged):
        place = line_of(folder.qrels, absent[0], 2) if folder else f"the judgments of {dataset}"
        raise InputError(f"{place}: document {absent[0]} is judged but is not in the collection ({len(absent)} such)")
    write_text(queries_out, "".join(f"{query_id}\t{text}\n" for query_id, text in queries.items()))
    lines = (f"{qrel.query_id} 0 {qrel.doc_id} {qrel.relevance}\n" for qrel in judged)
    write_text(qrels_out, "".join(lines))
    write_counts(counts_out, counts_of(queries, qrels))
