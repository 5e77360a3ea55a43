"""Query encoding: the importance of each term of a query (equation 1).

On a CPU the exported graph runs in ONNX Runtime, without torch; on a GPU, or if a checkpoint has no graph, torch runs.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from epic.core.files import InputError
from epic.core.log import progress
from epic.model.facts import read_facts
from epic.model.query_onnx_export import GRAPH
from epic.model.query_vector import QueryVector

log = logging.getLogger(__name__)


def query_vectors(checkpoint, compute: dict, queries: dict[str, str]) -> dict[str, QueryVector]:
    """Return vectors of all queries of a set; as in the batches of the released code, if the checkpoint asks for them."""
    if not read_facts(Path(checkpoint) / "epic.json").get("released_batches", False):
        return weigh(query_encoder(checkpoint, compute), queries)
    from epic.model.epic import load_model
    from epic.model.query_torch import longest_queries, query_vector

    log.info("queries are encoded as in the batches of the released code, by torch on %s", compute["device"])
    model = load_model(checkpoint, compute)
    return weigh(partial(query_vector, model), queries, longest_queries(model, queries))


def weigh(
    encode: Callable[..., QueryVector], queries: dict[str, str], longest: dict[str, int] | None = None
) -> dict[str, QueryVector]:
    """Return vectors of all queries, encoded one at a time, so that none depends on its neighbours.

    longest: what `longest_queries` returns; then a query depends on the longest one of its batch.
    """
    vectors = {}
    for query_id, text in progress(queries.items(), desc="queries", unit="query"):
        try:
            vectors[query_id] = encode(text) if longest is None else encode(text, longest[query_id])
        except InputError as error:
            raise InputError(f"query {query_id}: {error}") from error
    return vectors


def graph_session(checkpoint, threads: int):
    """Return the exported graph of a checkpoint, ready to run; None if it has none."""
    if not (Path(checkpoint) / GRAPH).exists() or (Path(checkpoint) / "model.safetensors").is_symlink():
        return None  # onnxruntime reads no weights through a link
    from epic.model.query_onnx import Session

    return Session(checkpoint, threads)


def query_encoder(checkpoint, compute: dict) -> Callable[[str], QueryVector]:
    """Return a function from a query's text to its vector."""
    if compute["device"] == "cpu" and (session := graph_session(checkpoint, compute["threads"])):
        return session.query_vector
    from epic.model.epic import load_model
    from epic.model.query_torch import query_vector  # torch takes seconds to import

    log.info("queries are encoded by torch on %s", compute["device"])
    return partial(query_vector, load_model(checkpoint, compute))
