"""Query encoding: by the graph on a CPU, else by torch; a query that fails is named."""

import os
import subprocess
import sys
from functools import partial

import pytest

from epic.core.files import InputError, read_json, write_json
from epic.model.epic import EpicModel
from epic.model.query_onnx_export import export
from epic.model.query_torch import longest_queries, query_vector
from epic.model.weigh import graph_session, query_encoder, query_vectors, weigh

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}


def test_without_a_graph_torch_encodes_queries(checkpoint):
    with_graph = weigh(query_encoder(checkpoint, CPU), {"q": "cost of a pool"})["q"]
    (checkpoint / "query.onnx").unlink()
    encode = query_encoder(checkpoint, CPU)
    assert isinstance(encode, partial) and encode.func is query_vector
    assert encode("cost of a pool").weights == pytest.approx(with_graph.weights, abs=1e-5)


def test_encoding_queries_on_a_cpu_does_not_import_torch(checkpoint):
    code = f"import sys; from epic.model.weigh import query_encoder; query_encoder({str(checkpoint)!r}, {CPU!r})('x'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "False"


def test_weights_behind_a_link_are_left_to_torch(checkpoint):
    (checkpoint / "model.safetensors").rename(checkpoint.parent / "elsewhere")
    (checkpoint / "model.safetensors").symlink_to(checkpoint.parent / "elsewhere")
    assert graph_session(checkpoint, 1) is None
    assert len(query_encoder(checkpoint, CPU)("cost of pool").terms) == 3


def test_a_weight_that_is_not_finite_is_refused_with_the_query(checkpoint):
    from safetensors.torch import load_file, save_file

    weights = load_file(checkpoint / "model.safetensors")
    name = next(name for name in weights if name.startswith("equations.theta1"))
    weights[name].view(-1)[0] = float("nan")
    save_file(weights, checkpoint / "model.safetensors")
    export(checkpoint)
    for encode in (query_encoder(checkpoint, CPU), partial(query_vector, EpicModel.from_pretrained(checkpoint))):
        with pytest.raises(InputError, match="query q7: a query has a weight that is not finite"):
            weigh(encode, {"q7": "cost of a pool"})


def test_a_query_set_is_encoded_query_by_query_unless_the_checkpoint_asks_for_the_released_batches(released, tmp_path):
    queries, checkpoint = {"short": "a", "long": "cost of a pool b c d"}, tmp_path / "checkpoint"
    released.equations.theta1.weight.data *= 10  # so that a position is seen in the weights
    released.eval().save_pretrained(checkpoint)
    export(checkpoint)
    alone = query_vectors(checkpoint, CPU, queries)
    assert alone["short"].weights.tolist() == query_encoder(checkpoint, CPU)("a").weights.tolist()
    facts = read_json(checkpoint / "epic.json")
    write_json(checkpoint / "epic.json", facts | {"released_batches": True})
    padded = query_vectors(checkpoint, CPU, queries)
    assert padded["short"].terms.tolist() == alone["short"].terms.tolist()
    assert padded["short"].weights != pytest.approx(alone["short"].weights, rel=1e-3)  # its [SEP] stands elsewhere
    assert padded["long"].weights == pytest.approx(alone["long"].weights, rel=1e-4)


def test_queries_are_padded_to_the_longest_of_sixteen_in_their_order(released):
    queries = {f"q{place}": " ".join("abcdefghi"[:length]) for place, length in enumerate([3] + [1] * 15 + [2] + [0] * 2)}
    found = longest_queries(released, queries)
    assert list(found.values()) == [3] * 16 + [2] * 3
    assert longest_queries(released, {"q": "a " * 501}) == {"q": 500} and longest_queries(released, {}) == {}
