"""The collection in numbers, as the paper describes its own: lengths of passages and queries, and the judgments."""

import logging
from collections import Counter
from collections.abc import Iterable
from functools import partial, reduce
from operator import add
from pathlib import Path

from epic.core.files import read_json, write_json
from epic.core.places import placeless
from epic.corpus.datasets import load
from epic.corpus.irds_downloads import fetched
from epic.corpus.lengths import Lengths
from epic.corpus.published_queries import query_texts
from epic.model.tokens import tokenizer_of

log = logging.getLogger(__name__)
AT_A_TIME = 10_000


def passages(shards, count: int) -> dict:
    """Return number and lengths of the passages, as counted with their word-pieces; without shards only their number."""
    if not shards:
        return {"count": count}
    counted = [read_json(Path(shard) / "lengths.json") for shard in shards]
    sums = {kind: reduce(add, (Lengths(**found[kind]) for found in counted), Lengths()) for kind in ("word_pieces", "terms")}
    return {"count": sums["terms"].count} | {kind: found.summary() for kind, found in sums.items()}


def queries(texts: Iterable[str], judged: list[int], tokenizer) -> dict:
    """Return number, lengths and judgments of queries; judged: the number of relevant passages of each query that has any."""
    sums, batch = {"word_pieces": Lengths(), "terms": Lengths()}, []
    for text in texts:
        batch.append(text)
        if len(batch) == AT_A_TIME:
            _count(batch, sums, tokenizer)
            batch = []
    _count(batch, sums, tokenizer)
    count = sums["terms"].count
    lengths = {kind: found.summary() for kind, found in sums.items() if found.count or tokenizer}
    return {"count": count} | lengths | _judgments(count, judged)


def _count(texts: list[str], sums: dict[str, Lengths], tokenizer) -> None:
    if tokenizer:
        sums["word_pieces"].add(len(found.ids) for found in tokenizer.encode_batch(texts, add_special_tokens=False))
    sums["terms"].add(len(text.split()) for text in texts)


def _judgments(count: int, judged: list[int]) -> dict:
    return {
        "judgments_per_query": sum(judged) / count if count else 0.0,
        "answered_share": len(judged) / count if count else 0.0,
        "judgments_per_answered_query": sum(judged) / len(judged) if judged else 0.0,
    }


def write_statistics(manifest, shards, datasets: list[str], encoder, out) -> None:
    """Write counts of the passages, and of the queries of all `datasets`; a passage of grade 1 or more answers a query."""
    texts: list[str] = []
    judged: list[int] = []
    for dataset in datasets:
        asked, relevant = fetched(dataset, partial(_asked_and_relevant, dataset))
        texts += asked.values()
        judged += Counter(query_id for query_id, _ in relevant).values()
    tokenizer = tokenizer_of(encoder) if encoder else None
    counted = queries(texts, judged, tokenizer)
    found = {"passages": passages(shards, read_json(manifest)["count"]), "queries": counted}
    log.info("%d passages, %d queries", found["passages"]["count"], found["queries"]["count"])
    write_json(out, found | {"datasets": placeless(datasets)})


def _asked_and_relevant(dataset: str) -> tuple[dict[str, str], dict[tuple[str, str], None]]:
    """Return texts by query id, and the pairs of query and relevant passage, each once, in their order."""
    source = load(dataset)
    relevant = ((qrel.query_id, qrel.doc_id) for qrel in source.qrels_iter() if qrel.relevance > 0)
    return query_texts(source.queries_iter(), dataset), dict.fromkeys(relevant)
