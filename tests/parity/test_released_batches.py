"""Long texts, and batches, as the released code has them: against an implementation from its description alone.

Their encoder pads a batch's texts to the longest, splits all of them into ceil(longest / 510) windows of one length, puts
[CLS] before and [SEP] behind each window, padding included, and lets BERT attend to all but the padding. The word-pieces of
the windows are joined again, their [CLS] vectors averaged; padding is multiplied by zero before the maximum. Passages are cut
after 2,000 word-pieces and written eight at a time in the collection's order; queries after 500, sixteen at a time. Nothing
here is taken from `epic`: weights are read by name, and BERT is transformers'.
"""

import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import gelu, layer_norm, linear, softplus

from epic.corpus.documents import Documents
from epic.corpus.runs import ScoredDoc
from epic.experiment.settings import EncodeSettings
from epic.model.epic import EpicModel
from epic.model.equations import phi_d
from epic.model.query_onnx_export import export
from epic.model.weigh import query_vectors
from epic.vectors.at_query_time import compute_vectors, copy_vectors
from epic.vectors.encode import encode_shard
from epic.vectors.store import Store
from epic.vectors.unpruned_scores import unpruned_scores
from tests.conftest import WORDS
from tests.vectors import spoken

pytestmark = pytest.mark.parity
PAD, CLS, SEP = (WORDS.index(word) for word in ("[PAD]", "[CLS]", "[SEP]"))
LETTERS = WORDS[5:31]
WINDOW = 510
CPU = {"device": "cpu", "threads": 1, "precision": "float32"}


class Theirs:
    """The released code's way of encoding batches, for the weights of one of our checkpoints."""

    def __init__(self, checkpoint):
        from transformers import BertModel

        self.weights = {name: tensor.double() for name, tensor in load_file(checkpoint / "model.safetensors").items()}
        self.bert = BertModel.from_pretrained(checkpoint, add_pooling_layer=False).double().eval()
        body = {name.removeprefix("body."): tensor for name, tensor in self.weights.items() if name.startswith("body.")}
        self.bert.load_state_dict(body)

    def tokens(self, batch, segment):
        """Token vectors (B, longest, e) of a padded batch, and the mean [CLS] vectors (B, e)."""
        longest = max(map(len, batch))
        count = math.ceil(longest / WINDOW)
        size = math.ceil(longest / count)
        ids, seen = [], []
        for part in range(count):
            for text in batch:
                window = text[part * size : (part + 1) * size]
                padding = size - len(window)
                ids.append([CLS, *window, *[PAD] * padding, SEP])
                seen.append([1, *[1] * len(window), *[0] * padding, 1])
        ids, seen = torch.tensor(ids), torch.tensor(seen)
        with torch.inference_mode():
            states = self.bert(input_ids=ids, attention_mask=seen, token_type_ids=torch.full_like(ids, segment)).last_hidden_state
        parts = states.split(len(batch))
        joined = torch.cat([part[:, 1:-1] for part in parts], dim=1)[:, :longest]
        return joined, torch.stack([part[:, 0] for part in parts]).mean(dim=0)

    def linear(self, name, x):
        return linear(x, self.weights[f"equations.{name}.weight"], self.weights[f"equations.{name}.bias"])

    def passages(self, batch):
        """Dense vectors (B, V)."""
        batch = [text[:2000] for text in batch]
        f, cls = self.tokens(batch, 1)
        mask = torch.tensor([[float(place < len(text)) for place in range(f.shape[1])] for text in batch])
        x = gelu(self.linear("dense", f))
        x = layer_norm(x, x.shape[-1:], self.weights["equations.norm.weight"], self.weights["equations.norm.bias"], 1e-12)
        x = linear(x, self.weights["body.embeddings.word_embeddings.weight"], self.weights["equations.bias"])
        expansion = (1 + softplus(x)).log() * (1 + softplus(self.linear("theta3", f))).log() * mask[..., None]
        return torch.sigmoid(self.linear("theta4", cls)) * expansion.max(dim=1).values

    def queries(self, batch):
        """Dense vectors (B, V)."""
        batch = [text[:500] for text in batch]
        f, _ = self.tokens(batch, 0)
        vectors = torch.zeros(len(batch), len(WORDS), dtype=torch.double)
        for vector, text, importance in zip(vectors, batch, (1 + softplus(self.linear("theta1", f))).log(), strict=True):
            for piece, value in zip(text, importance[:, 0], strict=False):  # what follows is padding
                vector[piece] += value
        return vectors


@pytest.fixture(scope="module")
def long_encoder(mlm_encoder, tmp_path_factory):
    """The tiny encoder with BERT's 512 positions, so that a window holds 510 word-pieces."""
    from epic.model.bert import Bert

    folder = tmp_path_factory.mktemp("long")
    config = json.loads((mlm_encoder / "config.json").read_text()) | {"max_position_embeddings": 512}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_bytes((mlm_encoder / "tokenizer.json").read_bytes())
    torch.manual_seed(3)
    body = {f"bert.{name}": tensor for name, tensor in Bert(config).state_dict().items()}
    save_file(load_file(mlm_encoder / "model.safetensors") | body, folder / "model.safetensors")
    return folder


def checkpoint_of(encoder, formulation, folder):
    model = EpicModel.from_encoder(encoder, formulation, seed=7).eval()
    torch.manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("equations."):
                parameter.normal_()
    model.released_batches = formulation == "released"
    model.save_pretrained(folder)
    export(folder)
    return folder


@pytest.fixture(scope="module")
def checkpoint(long_encoder, tmp_path_factory):
    return checkpoint_of(long_encoder, "released", tmp_path_factory.mktemp("released") / "checkpoint")


def text_of(length, seed=0):
    return " ".join(np.random.default_rng([length, seed]).choice(LETTERS, length))


def ids_of(text):
    return [WORDS.index(word) for word in text.split()]


def vectors_of(model, pieces, longest=None):
    tokens, e = model.passage_tokens(pieces, longest), model.equations
    padding = tokens.padding()
    psi = e.psi(padding.pad(e.hidden(tokens.f)), slice(0, len(WORDS)))
    return phi_d(padding.pad(e.w_d(tokens.f)), psi, e.c(tokens.cls), padding.mask(tokens.f))


@torch.inference_mode()
@pytest.mark.parametrize("formulation", ["paper", "released"])
@pytest.mark.parametrize(
    ("length", "windows"), [(0, [0]), (1, [1]), (510, [510]), (511, [256, 255]), (1020, [510, 510]), (1021, [341, 341, 339])]
)
def test_a_long_text_is_cut_where_the_released_code_cuts_it(long_encoder, formulation, length, windows):
    model = EpicModel.from_encoder(long_encoder, formulation, seed=7).double().eval()
    ids, parts, start = ids_of(text_of(length)), [], 0
    for size in windows:
        parts.append(model.passage_tokens([ids[start : start + size]]))
        start += size
    found = model.passage_tokens([ids])
    assert start == length == sum(found.lengths)
    assert torch.allclose(found.f, torch.cat([part.f for part in parts]), rtol=1e-10, atol=1e-12)
    assert torch.allclose(found.cls[0], torch.cat([part.cls for part in parts]).mean(dim=0), rtol=1e-10, atol=1e-12)


@torch.inference_mode()
@pytest.mark.parametrize("length", [510, 1020, 2 * 400])
def test_a_text_that_fills_its_windows_is_the_released_code_s_without_any_option(checkpoint, length):
    model, ids = EpicModel.from_pretrained(checkpoint).double(), ids_of(text_of(length))
    assert torch.allclose(vectors_of(model, [ids]), Theirs(checkpoint).passages([ids]), rtol=1e-9, atol=1e-12)


@torch.inference_mode()
@pytest.mark.parametrize(
    "lengths",
    [
        [7],
        [511],  # the last window alone is padded, by one
        [1021],
        [4] * 8,
        [1, 9, 3, 9, 0, 2, 14, 5],
        [510, 3],
        [511, 3, 300, 256, 257, 0],  # the short ones run in two windows as well, one of them perhaps empty
        [1020, 511, 510],
        [1021, 1020, 341, 342, 0],
        [1999, 5],
        [2001, 5, 2000],  # cut
    ],
    ids=str,
)
def test_a_batch_is_the_released_code_s(checkpoint, lengths):
    model, pieces = EpicModel.from_pretrained(checkpoint).double(), [ids_of(text_of(length, 1)) for length in lengths]
    found = vectors_of(model, pieces, [min(2000, max(lengths))] * len(lengths))
    assert torch.allclose(found, Theirs(checkpoint).passages(pieces), rtol=1e-9, atol=1e-12)
    padded = len(set(lengths)) > 1 or lengths[0] in (511, 1021)
    assert torch.equal(found, vectors_of(model, pieces)) != padded


@torch.inference_mode()
def test_a_batch_of_empty_passages_has_zero_vectors(checkpoint):
    """The released code has no window for it, and stops."""
    model = EpicModel.from_pretrained(checkpoint).double()
    assert vectors_of(model, [[], []], [0, 0]).tolist() == [[0.0] * len(WORDS)] * 2


LENGTHS = [3, 8, 1, 0, 12, 2, 2, 6, 5, 5, 511, 40, 3, 9, 510, 7, 0, 20, 4]  # two batches of eight, and one of three
QUERY_LENGTHS = [2, 5, 1, 9, 3, 0, 4, 4, 6, 2, 8, 1, 1, 7, 3, 2, 5, 501]  # a batch of sixteen, and one of two


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collection")
    (folder / "docs.tsv").write_text("".join(f"d{i}\t{text_of(length, i)}\n" for i, length in enumerate(LENGTHS)))
    return Documents(f"path:{folder}")


@pytest.fixture(scope="module")
def expected(checkpoint):
    """Their vectors of the collection, in batches of eight."""
    theirs, pieces = Theirs(checkpoint), [ids_of(text_of(length, i)) for i, length in enumerate(LENGTHS)]
    return torch.cat([theirs.passages(pieces[start : start + 8]) for start in range(0, len(pieces), 8)]).numpy()


@pytest.mark.parametrize("shards", [1, 3])
def test_stored_vectors_are_those_of_batches_of_eight_in_the_collection_s_order(
    checkpoint, collection, expected, shards, tmp_path, monkeypatch
):
    """Whatever the shards, the passages that are read at a time, and the batches of our own."""
    monkeypatch.setattr("epic.vectors.encode.PASSAGES_AT_A_TIME", 5)
    model, settings, found = EpicModel.from_pretrained(checkpoint), EncodeSettings(len(WORDS), 1024, 7), []
    for shard in range(1, shards + 1):
        encode_shard(model, "digest", spoken(model, collection, f"{shard}-of-{shards}"), settings, tmp_path / str(shard))
        found.append(Store(tmp_path / str(shard)).weights)
    found = np.concatenate(found).astype(np.float64)
    assert np.allclose(found, expected, rtol=2e-3, atol=1e-6)
    model.released_batches = False
    encode_shard(model, "digest", spoken(model, collection), settings, tmp_path / "without")
    assert not np.allclose(Store(tmp_path / "without").weights, expected, rtol=2e-2, atol=1e-3)


def test_query_vectors_are_those_of_batches_of_sixteen_and_unpruned_scores_their_products(checkpoint, collection, expected):
    texts = {f"q{i}": text_of(length, 50 + i) for i, length in enumerate(QUERY_LENGTHS)}
    pieces, theirs = [ids_of(text) for text in texts.values()], Theirs(checkpoint)
    phi_q = torch.cat([theirs.queries(pieces[:16]), theirs.queries(pieces[16:])]).numpy()
    found = query_vectors(checkpoint, CPU, texts)
    for vector, (terms, weights) in zip(phi_q, found.values(), strict=True):
        assert terms.tolist() == np.flatnonzero(vector).tolist()
        assert weights == pytest.approx(vector[terms], rel=1e-4)
    run = {"q3": [ScoredDoc(f"d{i}", 1.0) for i in (18, 0, 10, 3, 12)], "q17": [ScoredDoc("d10", 1.0)]}
    scored = unpruned_scores(EpicModel.from_pretrained(checkpoint), collection, found, run, 1024)
    for query_id, hits in scored.items():
        rows = [int(hit.doc_id[1:]) for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(expected[rows] @ phi_q[int(query_id[1:])], rel=2e-3)


def test_the_unpruned_vectors_that_are_timed_are_the_same(checkpoint, collection, expected, tmp_path):
    rows = [18, 0, 10, 3]
    encode = {"token_budget": 1024, "vocabulary_block": 7}
    doc_ids = [f"d{row}" for row in rows]
    absent = copy_vectors((), doc_ids, tmp_path / "0.f16")
    compute_vectors(checkpoint, CPU, collection, doc_ids, absent, encode, tmp_path / "0.f16")
    found = np.fromfile(tmp_path / "0.f16", np.float16).reshape(len(rows), -1)
    assert np.allclose(found, expected[rows], rtol=2e-3, atol=1e-6)


def test_without_padding_the_option_changes_no_byte(checkpoint, tmp_path):
    (tmp_path / "docs.tsv").write_text("".join(f"{i}\t{text_of(6, i)}\n" for i in range(11)))
    documents, model, written = Documents(f"path:{tmp_path}"), EpicModel.from_pretrained(checkpoint), []
    for option in (True, False):
        model.released_batches = option
        encode_shard(model, "digest", spoken(model, documents), EncodeSettings(9, 512, 7), tmp_path / str(option))
        written.append([path.read_bytes() for path in sorted((tmp_path / str(option)).iterdir())])
    assert written[0] == written[1]


def test_a_query_that_is_asked_alone_is_not_padded(checkpoint):
    """As the released code does when it times queries."""
    from epic.model.weigh import query_encoder

    text = text_of(5)
    vector = Theirs(checkpoint).queries([ids_of(text)])[0].numpy()
    terms, weights = query_encoder(checkpoint, CPU)(text)
    assert weights == pytest.approx(vector[terms], rel=1e-4)
