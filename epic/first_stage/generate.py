"""Generation of queries for a shard of a collection, in files as docTTTTTquery's are published.

Parts of a shard are kept while it is made (epic.first_stage.generated_parts): a job that is killed goes on with the next part,
and ends with the same bytes.
"""

import logging
from collections.abc import Iterator

from epic.core.files import replacing
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.corpus.shards import parse_shard, shard_bounds
from epic.first_stage.generated_parts import Parts
from epic.first_stage.query_generator import QueryGenerator, Tokens
from epic.first_stage.sample_files import member_name
from epic.model.device import give_back_memory, out_of_memory

log = logging.getLogger(__name__)
PASSAGES_OF_A_PART = 2_000  # what a job that is killed may do again; among so many, several are equally long
USUAL = 128  # tokens: of longer passages fewer are read at a time, so that memory stays the same


def generate_shard(generator: QueryGenerator, documents: Documents, shard: str, batch: int, parts: Parts, out) -> None:
    """Write the queries of a shard's passages, a file for each sample; batch: passages at a time."""
    number, shards = parse_shard(shard)
    rows = shard_bounds(len(documents), number, shards)
    wanted = [
        range(first, min(first + PASSAGES_OF_A_PART, rows.stop)) for first in range(rows.start, rows.stop, PASSAGES_OF_A_PART)
    ]
    names = [member_name(sample, number - 1) for sample in range(generator.drawing.samples)]
    with replacing(out) as draft, progress(total=len(rows), desc=f"generate {shard}", unit="passage") as bar:
        draft.mkdir()
        for name in names:
            (draft / name).touch()
        for positions in wanted:
            queries = parts.read(positions)
            if queries is None:
                queries = queries_of(generator, documents, positions, batch, bar.update)
                parts.write(positions, queries)
            else:
                bar.update(len(positions))
            for sample, name in enumerate(names):
                with open(draft / name, "a", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(f"{some[sample]}\n" for some in queries)
    log.info("shard %s: %d queries for each of %d passages", shard, generator.drawing.samples, len(rows))


def queries_of(
    generator: QueryGenerator, documents: Documents, positions: range, batch: int, done=lambda count: None
) -> list[list[str]]:
    """Return the queries of the passages at some positions; those of a passage without a token are empty."""
    texts = [text for _, text in documents.span(positions)]
    passages = [Tokens(*passage) for passage in zip(positions, generator.tokens(texts), strict=True)]
    found = {passage.position: [""] * generator.drawing.samples for passage in passages if not passage.ids}
    done(len(found))
    for some, queries in computed(generator, [passage for passage in passages if passage.ids], batch):
        found |= {passage.position: lines for passage, lines in zip(some, queries, strict=True)}
        done(len(some))
    return [found[position] for position in positions]


def computed(generator: QueryGenerator, passages: list[Tokens], batch: int) -> Iterator[tuple[list[Tokens], list[list[str]]]]:
    """Yield passages with their queries, batch by batch. One that does not fit into memory is computed again as two."""
    waiting = batches(passages, batch)
    while waiting:
        some = waiting.pop()
        queries = _unless_too_large(generator, some)
        if queries is None:
            log.warning("memory ran out with %d passages at a time; lower the generator's batch", len(some))
            give_back_memory()
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        else:
            yield some, queries


def batches(passages: list[Tokens], batch: int) -> list[list[Tokens]]:
    """Group passages with equally many tokens, the longest last, at most `batch` in a group, and fewer if they are long."""
    by_length: dict[int, list[Tokens]] = {}
    for passage in passages:
        by_length.setdefault(len(passage.ids), []).append(passage)
    found = []
    for length, equal in sorted(by_length.items()):
        size = max(1, min(batch, batch * USUAL // length))
        found += [equal[first : first + size] for first in range(0, len(equal), size)]
    return found


def _unless_too_large(generator: QueryGenerator, some: list[Tokens]) -> list[list[str]] | None:
    """Return the queries of some passages, None if they do not fit; the error goes, since it holds on to tensors."""
    try:
        return generator.queries(some)
    except (RuntimeError, MemoryError) as error:
        if len(some) == 1 or not out_of_memory(error):
            raise
        return None
