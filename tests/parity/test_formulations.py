"""Both formulations against the equations written out loop by loop from the paper, and against transformers' own head.

Nothing here is taken from `epic`: the weights are read from the checkpoint's file by name, the token vectors come from
transformers' BertModel, and everything after them is plain Python on floats.
"""

import math

import pytest
import torch
from safetensors.torch import load_file

from epic.model.epic import EpicModel
from tests.conftest import WORDS

pytestmark = pytest.mark.parity
QUERIES = ["cost of pools", "a a b", "café", ""]
PASSAGES = ["price of a pool", "x", "", "cost of a pools a b café", "z y x w v u t s r q p o n m", "a b a"]
CLS, SEP = WORDS.index("[CLS]"), WORDS.index("[SEP]")


def split(text):
    """Word-pieces of the tiny vocabulary: whole words, but for the plural of pool."""
    pieces = []
    for word in text.split():
        pieces += [WORDS.index("pool"), WORDS.index("##s")] if word == "pools" else [WORDS.index(word)]
    return pieces


def dot(left, right):
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def ln_one_plus_softplus(x):
    return math.log(1.0 + (math.log1p(math.exp(x)) if x < 30 else x))


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


class Reference:
    """EPIC as a reader of the paper (or of the released code) would write it without caring for speed."""

    def __init__(self, checkpoint, formulation):
        from transformers import BertModel

        self.formulation = formulation
        weights = {name: tensor.double() for name, tensor in load_file(checkpoint / "model.safetensors").items()}
        self.bert = BertModel.from_pretrained(checkpoint, add_pooling_layer=False).double().eval()
        self.bert.load_state_dict({n.removeprefix("body."): t for n, t in weights.items() if n.startswith("body.")})
        self.weights = {name: tensor.tolist() for name, tensor in weights.items() if not name.startswith("body.encoder")}

    def vectors(self, pieces, segment):
        ids = torch.tensor([[CLS, *pieces, SEP]])
        with torch.inference_mode():
            states = self.bert(input_ids=ids, token_type_ids=torch.full_like(ids, segment)).last_hidden_state[0].tolist()
        return states[0], states[1:-1]

    def linear(self, name, x):
        """theta x, and the released code's bias."""
        if self.formulation == "paper":
            return dot(self.weights[f"equations.{name}"], x)
        return dot(self.weights[f"equations.{name}.weight"][0], x) + self.weights[f"equations.{name}.bias"][0]

    def expansion(self, x):
        """psi of one token for every vocabulary entry."""
        w = self.weights
        if self.formulation == "paper":
            return [dot(row, x) for row in w["equations.Theta2"]]
        x = [dot(row, x) + b for row, b in zip(w["equations.dense.weight"], w["equations.dense.bias"], strict=True)]
        x = [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x]
        mean = math.fsum(x) / len(x)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in x) / len(x) + 1e-12)
        gains = zip(x, w["equations.norm.weight"], w["equations.norm.bias"], strict=True)
        x = [(v - mean) / spread * gain + shift for v, gain, shift in gains]
        rows = zip(w["body.embeddings.word_embeddings.weight"], w["equations.bias"], strict=True)
        return [ln_one_plus_softplus(dot(row, x) + b) for row, b in rows]

    def query(self, text):
        phi = [0.0] * len(WORDS)
        pieces = split(text)
        for piece, f in zip(pieces, self.vectors(pieces, 0)[1], strict=True):
            phi[piece] += ln_one_plus_softplus(self.linear("theta1", f))
        return phi

    def passage(self, text):
        pieces = split(text)
        if not pieces:
            return [0.0] * len(WORDS)
        half = -(-len(pieces) // 2)  # a text beyond the window of 14 word-pieces runs in two parts; none here needs three
        windows = [pieces] if len(pieces) <= 14 else [pieces[:half], pieces[half:]]
        parts = [self.vectors(window, 0 if self.formulation == "paper" else 1) for window in windows]
        cls = [math.fsum(values) / len(parts) for values in zip(*(part[0] for part in parts), strict=True)]
        tokens = [token for part in parts for token in part[1]]
        best = [-math.inf] * len(WORDS)
        for f in tokens:
            w = ln_one_plus_softplus(self.linear("theta3", f))
            best = [max(value, w * psi) for value, psi in zip(best, self.expansion(f), strict=True)]
        return [sigmoid(self.linear("theta4", cls)) * value for value in best]


@pytest.fixture
def both(model, tmp_path):
    """A checkpoint read by us and by the reference, in double precision, every added weight drawn at random."""
    torch.manual_seed(5)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("equations."):
                parameter.normal_()
    model.float().save_pretrained(tmp_path / "checkpoint")
    again = EpicModel.from_pretrained(tmp_path / "checkpoint").double()
    return again, Reference(tmp_path / "checkpoint", model.formulation)


@torch.inference_mode()
def test_scores_equal_the_loops(both):
    model, reference = both
    for query in QUERIES:
        asked = model.query_tokens([split(query)] * len(PASSAGES))
        found = model.similarities(asked, model.passage_tokens([split(passage) for passage in PASSAGES]))[:, 0].tolist()
        expected = [dot(reference.query(query), reference.passage(passage)) for passage in PASSAGES]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert len(set(expected)) == 1 and expected[0] == 0.0  # the empty query is the last


@torch.inference_mode()
def test_passage_vectors_equal_the_loops_over_the_whole_vocabulary(both):
    from epic.model.equations import phi_d

    model, reference = both
    tokens = model.passage_tokens([split(passage) for passage in PASSAGES])
    e = model.equations
    padding = tokens.padding()
    psi = e.psi(padding.pad(e.hidden(tokens.f)), slice(0, len(WORDS)))
    found = phi_d(padding.pad(e.w_d(tokens.f)), psi, e.c(tokens.cls), padding.mask(tokens.f))
    for row, passage in zip(found.tolist(), PASSAGES, strict=True):
        assert row == pytest.approx(reference.passage(passage), rel=1e-9, abs=1e-12)
    assert (found < 0).any() == (model.formulation == "paper")


@torch.inference_mode()
def test_what_encoding_and_re_ranking_write_equals_the_loops(both):
    """The float16 vectors of the stores, the query vectors, and the scores of unpruned rows; a passage of two windows too."""
    from epic.model.query_torch import query_vector
    from epic.vectors.phi import document_vectors
    from epic.vectors.unpruned_scores import pair_scores

    model, reference = both
    model.float()
    passages = [*PASSAGES, " ".join("abcdefghijklmnopqrstu")]  # 21 word-pieces, a window holds 14
    expected = [reference.passage(passage) for passage in passages]
    for vector, row in zip(document_vectors(model, model.pieces(passages), 7), expected, strict=True):
        assert vector.tolist() == pytest.approx(row, rel=2e-3, abs=2e-3)
    queries = {query: query_vector(model, query) for query in QUERIES}
    for query, (terms, weights) in queries.items():
        phi = reference.query(query)
        assert terms.tolist() == [term for term, weight in enumerate(phi) if weight > 0]
        assert weights.tolist() == pytest.approx([phi[term] for term in terms], rel=1e-5)
    pieces = dict(enumerate(model.pieces(passages)))
    found = pair_scores(model, pieces, {place: QUERIES for place in pieces}, queries, 64)
    for (query, place), score in found.items():
        assert score == pytest.approx(dot(reference.query(query), expected[place]), rel=5e-3, abs=5e-3)


def test_our_tokenizer_reads_the_texts_as_the_reference_does(both):
    assert both[0].pieces(PASSAGES) == [split(passage) for passage in PASSAGES]


@torch.inference_mode()
def test_the_released_expansion_is_the_masked_language_model_of_transformers(mlm_encoder):
    from transformers import BertForMaskedLM

    theirs = BertForMaskedLM.from_pretrained(mlm_encoder).double().eval()
    ours = EpicModel.from_encoder(mlm_encoder, "released", seed=7).double().eval()
    pieces = split("cost of a pool")
    ids = torch.tensor([[CLS, *pieces, SEP]])
    logits = theirs(input_ids=ids, token_type_ids=torch.ones_like(ids)).logits[0, 1:-1]
    tokens = ours.passage_tokens([pieces])
    found = ours.equations.psi(ours.equations.hidden(tokens.f), slice(0, len(WORDS)))
    assert torch.allclose(found, torch.log1p(torch.nn.functional.softplus(logits)), rtol=1e-10, atol=1e-12)
