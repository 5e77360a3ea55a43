"""Query encoding: how much each term of a query matters (equation 1).

On a CPU the exported graph runs in ONNX Runtime, without torch; on a GPU, or where a checkpoint has no graph, torch does.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from epic.files import InputError
from epic.graph import GRAPH
from epic.log import progress
from epic.vectors import QueryVector

log = logging.getLogger(__name__)


def weigh(encode: Callable[[str], QueryVector], queries: dict[str, str]) -> dict[str, QueryVector]:
    """Vectors of all queries, one at a time, so that none depends on its neighbours."""
    vectors = {}
    for query_id, text in progress(queries.items(), desc="queries", unit="query"):
        try:
            vectors[query_id] = encode(text)
        except InputError as error:
            raise InputError(f"query {query_id}: {error}") from error
    return vectors


def graph_session(checkpoint, threads: int):
    """The exported graph of a checkpoint, ready to run; nothing where it has none."""
    if not (Path(checkpoint) / GRAPH).exists() or (Path(checkpoint) / "model.safetensors").is_symlink():
        return None  # onnxruntime reads no weights through a link
    from epic.session import Session

    return Session(checkpoint, threads)


def query_encoder(checkpoint, compute: dict) -> Callable[[str], QueryVector]:
    """A function from a query's text to its vector."""
    if compute["device"] == "cpu" and (session := graph_session(checkpoint, compute["threads"])):
        return session.query_vector
    from epic.importance import query_vector  # torch takes seconds to import
    from epic.inference import load_model

    log.info("queries are encoded by torch on %s", compute["device"])
    return partial(query_vector, load_model(checkpoint, compute))
