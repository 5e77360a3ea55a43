"""The cost of pre-computing passage vectors: their speed, the hours for MS MARCO, their bytes."""

import logging
from pathlib import Path

from epic.core.discarded import size_in
from epic.core.files import read_json, write_json
from epic.corpus.msmarco import PASSAGES
from epic.vectors.layers import chain
from epic.vectors.store_header import ARRAYS, read_header

log = logging.getLogger(__name__)


def write_costs(paces: list, shard, stores: dict, out) -> None:
    """Sum up the shards of a model, and measure its stores; shard: any of its shards, stores: kept terms -> folder."""
    found = [read_json(path) for path in paces]
    documents, seconds = (sum(pace[key] for pace in found) for key in ("documents", "seconds"))
    rate = documents / seconds
    vocabulary = read_json(Path(shard) / "header.json")["vocabulary"]
    sizes = {"full": 2 * vocabulary} | {keep: _bytes(store) / documents for keep, store in stores.items()}
    facts = {
        "passages": documents,
        "seconds": seconds,
        "passages_per_second": rate,
        "ms_marco_passages": PASSAGES,
        "ms_marco_hours": PASSAGES / rate / 3600,
        "vocabulary": vocabulary,
        "stores": [
            {
                "keep": keep,
                "measured": keep != "full",  # unpruned vectors are never stored: 16 bits for each vocabulary entry
                "bytes_per_passage": size,
                "gib": size * documents / 2**30,
                "ms_marco_gib": size * PASSAGES / 2**30,
                "vocabulary_reduced_by": 1 - keep / vocabulary if keep != "full" else 0.0,
            }
            for keep, size in sizes.items()
        ],
        "compute": found[0]["compute"],
        "machine": found[0]["machine"],
    }
    log.info("%.1f passages/s, %.1f hours for MS MARCO", rate, facts["ms_marco_hours"])
    write_json(out, facts)


def _bytes(store) -> int:
    """Return the bytes of terms and weights that a store reads, wherever they lie, also if they were removed after use."""
    path, header = Path(store), read_header(Path(store))
    parts = [path / shard.path for shard in header.shards] or [path]
    layers = chain(header.layers, header.keep)
    return sum(size_in(part, str(Path(layer.folder, name))) for part in parts for layer in layers for name in ARRAYS)
