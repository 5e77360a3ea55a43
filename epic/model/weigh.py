"""Query encoding: the importance of each term of a query (equation 1).

On a CPU the exported graph runs in ONNX Runtime, without torch; on a GPU, or if a checkpoint has no graph, torch runs.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from epic.core.files import InputError
from epic.core.log import progress
from epic.model.query_onnx_export import GRAPH
from epic.model.query_vector import QueryVector

log = logging.getLogger(__name__)


def weigh(encode: Callable[[str], QueryVector], queries: dict[str, str]) -> dict[str, QueryVector]:
    """Return vectors of all queries, encoded one at a time, so that none depends on its neighbours."""
    vectors = {}
    for query_id, text in progress(queries.items(), desc="queries", unit="query"):
        try:
            vectors[query_id] = encode(text)
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
