"""The query side of a checkpoint as an ONNX graph: BERT over one window of word-pieces, and theta1.

The file holds only the graph, some kilobytes: every weight is a reference into model.safetensors beside it, so nothing
is copied and nothing falls out of step; the metadata hold the sha256 of the weights. The activation of equation 1 is left
to the caller, who has a logarithm that is exact near zero.
"""

import json
import logging
from pathlib import Path

import numpy as np

from epic.core.files import read_json, replacing, sha256_of

log = logging.getLogger(__name__)
GRAPH = "query.onnx"
OPSET, IR = 20, 9  # the first with GELU; the version that onnxruntime reads since 1.17


def export(checkpoint) -> None:
    """Write the graph beside a checkpoint's weights, if its body is our BERT and the weights are float32."""
    import onnx
    from onnx import TensorProto, helper

    weights, config = Path(checkpoint) / "model.safetensors", read_json(Path(checkpoint) / "config.json")
    places = places_of(weights)
    if "body.embeddings.word_embeddings.weight" not in places:
        log.info("%s has no graph of its query side: it is for BERT in float32 alone", checkpoint)
        return
    builder = Builder(places, config)
    output = builder.query()
    graph = helper.make_graph(
        builder.nodes,
        "query",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["T"])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["T"])],
        builder.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    window = config["max_position_embeddings"] - 2  # between [CLS] and [SEP]
    helper.set_model_props(model, {"model": sha256_of(weights), "window": str(window)})
    with replacing(Path(checkpoint) / GRAPH) as draft:
        onnx.save(model, draft)


def places_of(path) -> dict[str, tuple[list[int], int, int]]:
    """Return shape, first byte and length of every tensor in a safetensors file."""
    with open(path, "rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(size))
    header.pop("__metadata__", None)
    return {
        name: (found["shape"], 8 + size + found["data_offsets"][0], found["data_offsets"][1] - found["data_offsets"][0])
        for name, found in header.items()
        if found["dtype"] == "F32"
    }


class Builder:
    """A builder of nodes, one after the other; every method returns the name of its result."""

    def __init__(self, places: dict, config: dict):
        self.places, self.config, self.nodes, self.initializers, self._known = places, config, [], [], set()

    def query(self) -> str:
        """Add theta1 . f (+ bias) of every word-piece, [CLS] and [SEP] included: (T,)."""
        x = self._norm("body.embeddings.LayerNorm", self._embeddings())  # (T, e)
        for layer in range(self.config["num_hidden_layers"]):
            x = self._layer(f"body.encoder.layer.{layer}", x)  # (T, e)
        if "equations.theta1" in self.places:
            return self.add("MatMul", x, self.weight("equations.theta1"))  # (T,)
        importance = self._linear("equations.theta1", x)  # (T, 1)
        return self.add("Squeeze", importance, self.constant([1]))  # (T,)

    def _embeddings(self) -> str:
        name = "body.embeddings.{}_embeddings.weight".format
        words = self.add("Gather", self.weight(name("word")), "ids")  # (T, e)
        length = self.add("Shape", "ids")  # (1,)
        positions = self.add("Slice", self.weight(name("position")), self.constant([0]), length)  # (T, e)
        segment = self.add("Slice", self.weight(name("token_type")), self.constant([0]), self.constant([1]))  # (1, e)
        return self.add("Add", self.add("Add", words, positions), segment)  # (T, e)

    def _layer(self, name: str, x: str) -> str:
        heads, size = self.config["num_attention_heads"], self.config["hidden_size"]
        split = self.constant([-1, heads, size // heads])
        rows = (self._linear(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))  # (T, e)
        q, k, v = (self.add("Reshape", row, split) for row in rows)  # (T, heads, e/heads)
        q, v = (self.add("Transpose", part, perm=[1, 0, 2]) for part in (q, v))  # (heads, T, e/heads)
        k = self.add("Transpose", k, perm=[1, 2, 0])  # (heads, e/heads, T)
        scale = self.constant(np.float32((size // heads) ** -0.5))
        seen = self.add("Softmax", self.add("MatMul", self.add("Mul", q, scale), k), axis=-1)  # (heads, T, T)
        context = self.add("Transpose", self.add("MatMul", seen, v), perm=[1, 0, 2])  # (T, heads, e/heads)
        context = self.add("Reshape", context, self.constant([-1, size]))  # (T, e)
        x = self._residual(f"{name}.attention.output", context, x)  # (T, e)
        inner = self.add("Gelu", self._linear(f"{name}.intermediate.dense", x))  # (T, 4e)
        return self._residual(f"{name}.output", inner, x)  # (T, e)

    def _residual(self, name: str, inner: str, x: str) -> str:
        return self._norm(f"{name}.LayerNorm", self.add("Add", self._linear(f"{name}.dense", inner), x))  # (T, e)

    def _linear(self, name: str, x: str) -> str:
        return self.add("Gemm", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1)

    def _norm(self, name: str, x: str) -> str:
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", x, scale, bias, epsilon=self.config["layer_norm_eps"])

    def add(self, kind: str, *inputs: str, **attributes) -> str:
        from onnx import helper

        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, value) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name: str) -> str:
        """Add a tensor that stays where it is, in model.safetensors."""
        from onnx import StringStringEntryProto, TensorProto

        if name not in self._known:
            self._known.add(name)
            shape, offset, length = self.places[name]
            tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
            for key, value in (("location", "model.safetensors"), ("offset", offset), ("length", length)):
                tensor.external_data.append(StringStringEntryProto(key=key, value=str(value)))
            self.initializers.append(tensor)
        return name
