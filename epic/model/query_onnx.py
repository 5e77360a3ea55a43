"""Query vectors by ONNX Runtime: the exported graph of a checkpoint, on a CPU, in float32."""

from pathlib import Path

import numpy as np
import onnxruntime

from epic.core.files import InputError, sha256_of
from epic.model.query_onnx_export import GRAPH
from epic.model.query_vector import QueryVector, query_vector_of
from epic.model.tokens import special_tokens, tokenizer_of, windows_of


class Session:
    """A checkpoint's query side; refuses a graph that was made for other weights."""

    def __init__(self, checkpoint, threads: int):
        path = Path(checkpoint)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting must not cost other threads' time
        try:
            self._session = onnxruntime.InferenceSession(str(path / GRAPH), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common class
            raise InputError(
                f"{path / GRAPH}: cannot be read ({str(error)[:200]}); move it away, and torch is used instead"
            ) from error
        facts = self._session.get_modelmeta().custom_metadata_map
        if facts.get("model") != sha256_of(path / "model.safetensors"):
            raise InputError(f"{path / GRAPH} was exported from other weights than {path / 'model.safetensors'}; move it away")
        self._window, self._tokenizer = int(facts["window"]), tokenizer_of(path)
        self._start, self._end = special_tokens(self._tokenizer)

    def query_vector(self, text: str) -> QueryVector:
        """Encode one query; a repeated term adds up."""
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        parts = [np.empty(0, dtype=np.float32)]
        for window in windows_of(ids, self._window):
            framed = np.array([self._start, *window, self._end], dtype=np.int64)  # (T+2,)
            (x,) = self._session.run(None, {"ids": framed})  # (T+2,)
            parts.append(x[1:-1])  # (T,), without [CLS] and [SEP]
        x = np.concatenate(parts)  # (T,)
        w_q = np.log1p(np.logaddexp(np.float32(0), x))  # (T,), ln(1 + softplus(x))
        return query_vector_of(np.array(ids, dtype=np.int64), w_q)
