"""Training examples as word-pieces: triples in file order, looked up as they are needed."""

from typing import NamedTuple

from epic.documents import Documents
from epic.files import InputError
from epic.model import Epic
from epic.records import Triple, read_queries, read_triples


class Example(NamedTuple):
    """A triple with the word-pieces of its query and passages."""

    triple: Triple
    query: list[int]
    relevant: list[int]
    other: list[int]


class Examples:
    """The triples of a file with their queries and documents; an unknown id is refused with its line."""

    def __init__(self, triples, queries, documents: Documents):
        self.path, self.triples, self.queries, self.documents = triples, read_triples(triples), read_queries(queries), documents
        if not self.triples:
            raise InputError(f"{triples}: there are no triples to train on")
        for line, triple in enumerate(self.triples, start=1):
            if triple.query_id not in self.queries:
                raise InputError(f"{triples} line {line}: query {triple.query_id} is not in {queries}")

    def __len__(self) -> int:
        return len(self.triples)

    def between(self, start: int, stop: int, model: Epic, limit: int | None) -> list[Example]:
        """Examples `start` to `stop` with at most `limit` word-pieces of each passage."""
        chosen = self.triples[start:stop]
        doc_ids = sorted({doc_id for triple in chosen for doc_id in triple[1:]})
        if unknown := set(self.documents.unknown(doc_ids)):
            line = next(line for line, triple in enumerate(chosen, start=start + 1) if unknown & set(triple[1:]))
            named = sorted(unknown & set(self.triples[line - 1][1:]))[0]
            raise InputError(f"{self.path} line {line}: document {named} is not in {self.documents.dataset}")
        pieces = dict(zip(doc_ids, model.pieces(self.documents.texts(doc_ids), limit), strict=True))
        queries = model.pieces(self.queries[triple.query_id] for triple in chosen)
        return [
            Example(triple, query, pieces[triple.relevant_id], pieces[triple.other_id])
            for triple, query in zip(chosen, queries, strict=True)
        ]
