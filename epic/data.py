"""Collections: documents, queries and judgments from ir_datasets ids or from folders of one's own.

A folder is registered with ir_datasets, so that everything after this module sees one kind of dataset:

    msmarco-passage/dev/small          an ir_datasets id
    path:FOLDER                        docs.tsv, queries.tsv, qrels.txt
    path:FOLDER#SPLIT                  queries.SPLIT.tsv, qrels.SPLIT.txt
"""

import fcntl
import hashlib
import logging
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from epic.files import InputError, numbered_lines, read_json, sha256_of, write_json, write_text
from epic.folder import check_qrels, check_tsv, folder_of

log = logging.getLogger(__name__)


@contextmanager
def alone():
    """Only one process at a time fetches or builds: ir_datasets corrupts its stores otherwise."""
    import ir_datasets

    home = Path(ir_datasets.util.home_path())
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "epic.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def load(dataset: str):
    """An ir_datasets dataset, whatever its source."""
    import ir_datasets

    folder = folder_of(dataset)
    if folder is None:
        return ir_datasets.load(dataset)
    local = ir_datasets.util.LocalDownload
    qrels = ir_datasets.formats.TrecQrels(local(folder.qrels, mkdir=False), {})
    queries = ir_datasets.formats.TsvQueries(local(folder.queries, mkdir=False), lang=None)
    docs = _local_docs(folder.docs) if folder.docs.exists() else None  # queries of one's own over another collection
    return ir_datasets.Dataset(docs, queries, qrels)


def _local_docs(path: Path):
    """Documents of a TSV file; the store lies in ir_datasets' home under a key that changes with the file."""
    import ir_datasets
    from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, PickleLz4FullStore

    state = path.stat()
    key = hashlib.sha256(f"{path} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]

    class LocalDocs(ir_datasets.formats.TsvDocs):
        def docs_store(self, options=DEFAULT_DOCSTORE_OPTIONS):
            return PickleLz4FullStore(
                path=str(ir_datasets.util.home_path() / "epic" / key / "docs.pklz4"),
                init_iter_fn=self._iter_file,
                data_cls=self.docs_cls(),
                lookup_field="doc_id",
                index_fields=["doc_id"],
                options=options,
            )

        def docs_count(self):
            return self.docs_store().count() if self.docs_store().built() else None

        def _iter_file(self):
            return iter(ir_datasets.formats.TsvDocs._iter(self))

    return LocalDocs(ir_datasets.util.LocalDownload(path, mkdir=False), lang=None)


class Documents:
    """The passages of a collection: by id, and by position for shards."""

    def __init__(self, dataset: str):
        self.dataset = dataset
        with alone():
            self._docs = load(dataset)
            self._store = self._docs.docs_store()
            self._store.build()

    def __len__(self) -> int:
        return self._store.count()

    def texts(self, doc_ids) -> list[str]:
        """Texts in the order of `doc_ids`; an unknown id is an error."""
        found = self._store.get_many(set(doc_ids))
        missing = [doc_id for doc_id in doc_ids if doc_id not in found]
        if missing:
            raise InputError(f"{self.dataset} has no document {missing[0]} ({len(missing)} asked for are missing)")
        return [found[doc_id].default_text() for doc_id in doc_ids]

    def unknown(self, doc_ids) -> list[str]:
        """Those of `doc_ids` that are not in the collection, sorted."""
        wanted = set(doc_ids)
        return sorted(wanted - set(self._store.get_many(wanted)))

    def span(self, positions: range):
        """Yield (id, text) of the documents at `positions`, a contiguous range."""
        for doc in self._docs.docs_iter()[positions.start : positions.stop]:
            yield doc.doc_id, doc.default_text()


def open_documents(manifest) -> Documents:
    """The collection that a manifest describes; one that has changed since is refused."""
    facts = read_json(manifest)
    documents = Documents(facts["documents"])
    if len(documents) != facts["count"]:
        raise InputError(f"{manifest} speaks of {facts['count']} documents, {facts['documents']} has {len(documents)}")
    return documents


def prepare_documents(dataset: str, count: int, out) -> None:
    """Fetch or check the documents, build their store, assert their count, and write the manifest."""
    folder = folder_of(dataset)
    if folder:
        check_tsv(folder.docs)
    documents = Documents(dataset)
    if len(documents) != count:
        raise InputError(
            f"{dataset} has {len(documents)} documents, the experiment says {count}; "
            "correct data.count, or fetch the collection anew"
        )
    log.info("%s: %d documents", dataset, count)
    facts = {"documents": dataset, "count": count}
    write_json(out, facts | ({"sha256": sha256_of(folder.docs)} if folder else {}))


def prepare_queries(dataset: str, documents: Documents, queries_out, qrels_out) -> None:
    """Write a query set as plain TSV and TREC files; judgments of unknown queries or documents are refused."""
    folder = folder_of(dataset)
    if folder:
        check_tsv(folder.queries)
        check_qrels(folder.qrels)
    with alone():
        source = load(dataset)
        queries = {query.query_id: " ".join(query.default_text().split()) for query in source.queries_iter()}
        qrels = list(source.qrels_iter())
    if blank := next((query_id for query_id, text in queries.items() if not text), None):
        raise InputError(f"{folder.queries if folder else dataset}: query {blank} has no text; remove it")
    named = folder.qrels if folder else f"the judgments of {dataset}"
    for qrel in qrels:
        if qrel.query_id not in queries:
            raise InputError(f"{named}: query {qrel.query_id} is judged but is not among the queries")
    if absent := documents.unknown(qrel.doc_id for qrel in qrels):
        raise InputError(f"{named}: document {absent[0]} is judged but is not in the collection ({len(absent)} such)")
    write_text(queries_out, "".join(f"{query_id}\t{text}\n" for query_id, text in queries.items()))
    lines = (f"{qrel.query_id} 0 {qrel.doc_id} {qrel.relevance}\n" for qrel in qrels)
    write_text(qrels_out, "".join(lines))


def read_queries(path) -> dict[str, str]:
    """Query texts by id, in file order."""
    check_tsv(Path(path))
    return dict(line.split("\t") for _, line in numbered_lines(path))


def read_qrels(path) -> dict[str, dict[str, int]]:
    """Relevance by query id and document id."""
    check_qrels(Path(path))
    qrels = {}
    for _, line in numbered_lines(path):
        query_id, _, doc_id, relevance = line.split()
        qrels.setdefault(query_id, {})[doc_id] = int(relevance)
    return qrels
