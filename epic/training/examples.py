"""Training examples as texts: triples in file order, looked up when they are needed."""

from typing import NamedTuple

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.corpus.text_files import Triple, read_queries
from epic.corpus.triple_file import TripleFile


class Example(NamedTuple):
    """A triple with the texts of its query and passages."""

    triple: Triple
    query: str
    relevant: str
    other: str


class Examples:
    """The triples of a file with their queries and documents; refuses an unknown id with its line."""

    def __init__(self, triples, queries, documents: Documents):
        self.queries, self.documents = read_queries(queries), documents
        self.triples = TripleFile(triples, self.queries, queries)

    def __len__(self) -> int:
        return len(self.triples)

    def between(self, start: int, stop: int) -> list[Example]:
        """Return examples `start` to `stop`."""
        chosen = self.triples.between(start, stop)
        doc_ids = sorted({doc_id for triple in chosen for doc_id in triple[1:]})
        if unknown := set(self.documents.unknown(doc_ids)):
            line = next(line for line, triple in enumerate(chosen, start=start + 1) if unknown & set(triple[1:]))
            named = sorted(unknown & set(chosen[line - 1 - start][1:]))[0]
            raise InputError(f"{self.triples.path} line {line}: document {named} is not in {self.documents.dataset}")
        texts = dict(zip(doc_ids, self.documents.texts(doc_ids), strict=True))
        return [
            Example(triple, self.queries[triple.query_id], texts[triple.relevant_id], texts[triple.other_id]) for triple in chosen
        ]
