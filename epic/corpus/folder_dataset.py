"""The user's own folder as a dataset of ir_datasets, read with our own checks."""

import hashlib

import ir_datasets
from ir_datasets.formats import BaseDocPairs, BaseDocs, BaseQrels, BaseQueries, GenericDoc, GenericDocPair, GenericQuery
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, PickleLz4FullStore

from epic.corpus.folder import Folder
from epic.corpus.text_files import judgments, texts, triples


def local_dataset(folder: Folder):
    """Make the dataset of a folder; it lacks what the folder lacks (the user's own queries need no documents beside them)."""
    kinds = (LocalDocs, folder.docs), (LocalQueries, folder.queries), (LocalQrels, folder.qrels), (LocalDocPairs, folder.docpairs)
    return ir_datasets.Dataset(*(kind(path) for kind, path in kinds if path.exists()))


class _Local:
    def __init__(self, path):
        self.path = path


class LocalDocs(_Local, BaseDocs):
    """Documents; their store lies in ir_datasets' home under a key that changes with the file."""

    def docs_iter(self):
        return iter(self.docs_store())

    def docs_store(self, options=DEFAULT_DOCSTORE_OPTIONS):
        path = self.path.resolve()
        state = path.stat()
        key = hashlib.sha256(f"{path} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]
        return PickleLz4FullStore(
            path=str(ir_datasets.util.home_path() / "epic" / key / "docs.pklz4"),
            init_iter_fn=lambda: (GenericDoc(*found) for found in texts(self.path)),
            data_cls=GenericDoc,
            lookup_field="doc_id",
            index_fields=["doc_id"],
            options=options,
        )

    def docs_count(self):
        return self.docs_store().count()


class LocalQueries(_Local, BaseQueries):
    """Queries."""

    def queries_iter(self):
        return (GenericQuery(*found) for found in texts(self.path))


class LocalQrels(_Local, BaseQrels):
    """Judgments."""

    def qrels_iter(self):
        return judgments(self.path)

    def qrels_defs(self):
        return {}


class LocalDocPairs(_Local, BaseDocPairs):
    """Published training triples."""

    def docpairs_iter(self):
        return (GenericDocPair(*triple) for triple in triples(self.path))
