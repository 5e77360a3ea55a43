"""Training triples (query, relevant passage, presumed non-relevant passage) in the order in which they are used."""

import itertools
import logging
from collections.abc import Iterable, Iterator

from epic.core.files import InputError, replacing, write_text
from epic.corpus.datasets import load
from epic.corpus.documents import Documents, open_documents
from epic.corpus.folder import folder_of, line_of
from epic.corpus.irds_downloads import fetched
from epic.corpus.query_counts import read_judgments
from epic.corpus.runs import whole_lists
from epic.corpus.sampling import drawn, pools_of
from epic.corpus.text_files import Triple, read_queries

log = logging.getLogger(__name__)
AT_A_TIME = 1_000_000  # triples in memory


def write_triples(source: dict, count: int, files: dict, out, queries_out) -> None:
    """Write `count` triples from the source that the experiment names."""
    if source["source"] == "docpairs":
        from_docpairs(source["dataset"], count, open_documents(files["manifest"]), out, queries_out)
    else:
        from_judgments(files, count, source, out, queries_out)


def from_docpairs(dataset: str, count: int, documents: Documents, out, queries_out) -> None:
    """Write the first `count` triples that a dataset publishes, in file order; refuse unknown queries or documents."""
    source, folder = load(dataset), folder_of(dataset)
    if not hasattr(source, "docpairs_iter"):
        raise InputError(f"{dataset} has no docpairs{f'; there is no {folder.docpairs}' if folder else ''}")
    named = folder.docpairs if folder else f"the docpairs of {dataset}"

    def checked(queries: dict) -> Iterator[Triple]:
        pairs = itertools.islice(source.docpairs_iter(), count)
        while some := [Triple(*pair[:3]) for pair in itertools.islice(pairs, AT_A_TIME)]:
            if unknown := next((triple.query_id for triple in some if triple.query_id not in queries), None):
                place = line_of(folder.docpairs, unknown, 0) if folder else named
                raise InputError(f"{place}: query {unknown} is not among the queries")
            if absent := documents.unknown(doc_id for triple in some for doc_id in triple[1:]):
                place = line_of(folder.docpairs, absent[0], 1, 2) if folder else named
                raise InputError(f"{place}: document {absent[0]} is not in {documents.dataset} ({len(absent)} such)")
            yield from some

    def write() -> int:
        queries = {query.query_id: query.default_text() for query in source.queries_iter()}
        return _write(checked(queries), queries, out, queries_out)

    written = fetched(dataset, write)
    if written < count:
        log.warning("%s has only %d triples of the %d that training may use", named, written, count)


def from_judgments(files: dict, count: int, source: dict, out, queries_out) -> None:
    """Write triples for a collection that publishes none: negatives are drawn from the first-stage hits."""
    lists = whole_lists(files["run"], files["answers"])
    pools = pools_of(read_judgments(files["qrels"], files["counts"]), lists, source["depth"], source["positives"])
    triples = itertools.islice(drawn(pools, source["seed"], source["positives"]), count)
    _write(triples, read_queries(files["queries"]), out, queries_out)


def _write(triples: Iterable[Triple], queries: dict, out, queries_out) -> int:
    """Write triples one by one, however many there are, and the queries they name; return their number."""
    count, used = 0, set()
    with replacing(out) as draft, open(draft, "w", encoding="utf-8") as stream:
        for triple in triples:
            stream.write("\t".join(triple) + "\n")
            used.add(triple.query_id)
            count += 1
    lines = (f"{query_id}\t{' '.join(text.split())}\n" for query_id, text in queries.items() if query_id in used)
    write_text(queries_out, "".join(lines))
    log.info("%d triples of %d queries", count, len(used))
    return count
