"""The authors' way of computing EPIC, written anew from what their release does: what the benchmark compares with.

Their model is the formulation `released`. Passages run in collection order, padded to the longest of a batch; the expansion
is built for every word-piece and the whole vocabulary; training builds it as well, and encodes each query twice; a lookup
copies all terms of all candidates through Python lists into a sparse tensor. The body is transformers' BertModel, which is
faster than the one of 2020; [SEP] stands right after the last word-piece, so that results can be compared.
"""

import io

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from epic.model.epic import EpicModel


def activation(x: Tensor) -> Tensor:
    return (1.0 + softplus(x)).log()


class PlainEpic(nn.Module):
    """The same weights as one of our models."""

    def __init__(self, model: EpicModel):
        super().__init__()
        from transformers import BertConfig, BertForMaskedLM

        self.bert = BertForMaskedLM(BertConfig(**model.body.config))
        names = {"body.": "bert.", "equations.dense.": "cls.predictions.transform.dense."}
        names |= {"equations.norm.": "cls.predictions.transform.LayerNorm.", "equations.bias": "cls.predictions.bias"}
        state = {}
        for name, value in model.state_dict().items():
            for ours, theirs in names.items():
                if name.startswith(ours):
                    state[theirs + name.removeprefix(ours)] = value
        state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]
        state["cls.predictions.decoder.bias"] = state["cls.predictions.bias"]
        self.bert.load_state_dict(state)
        size = model.body.config["hidden_size"]
        self.query_salience, self.doc_salience, self.doc_quality = (nn.Linear(size, 1) for _ in range(3))
        ours = model.equations
        for mine, theirs in (
            (self.query_salience, ours.theta1),
            (self.doc_salience, ours.theta3),
            (self.doc_quality, ours.theta4),
        ):
            mine.load_state_dict(theirs.state_dict())
        self.dropout = nn.Dropout(ours.dropout.p)
        self.start, self.end, self.vocabulary = model.start, model.end, model.vocabulary

    def encode(self, pieces: list[list[int]], segment: int) -> tuple[Tensor, Tensor, Tensor]:
        """Token vectors (B, L, e), [CLS] vectors (B, e) and a mask (B, L) of a padded batch."""
        longest = max(map(len, pieces))
        ids = torch.zeros(len(pieces), longest + 2, dtype=torch.long)  # (B, L+2)
        seen = torch.zeros_like(ids)  # (B, L+2)
        for row, text in enumerate(pieces):
            ids[row, : len(text) + 2] = torch.tensor([self.start, *text, self.end])
            seen[row, : len(text) + 2] = 1
        segments = torch.full_like(ids, segment)
        states = self.bert.bert(input_ids=ids, attention_mask=seen, token_type_ids=segments).last_hidden_state  # (B, L+2, e)
        mask = torch.arange(longest)[None, :] < torch.tensor([len(text) for text in pieces])[:, None]  # (B, L)
        return states[:, 1 : longest + 1], states[:, 0], mask

    def doc_vectors(self, pieces: list[list[int]]) -> Tensor:
        """Dense vectors (B, V), the expansion of the whole batch at once."""
        f, cls, mask = self.encode(pieces, segment=1)
        salience = activation(self.doc_salience(self.dropout(f)))  # (B, L, 1)
        expansion = activation(self.bert.cls.predictions(f))  # (B, L, V)
        expansion = expansion * salience * mask[..., None].float()  # (B, L, V)
        best, _ = expansion.max(dim=1)  # (B, V)
        return torch.sigmoid(self.doc_quality(cls)) * best  # (B, V)

    def query_vectors(self, pieces: list[list[int]]) -> Tensor:
        """Sparse vectors (B, V)."""
        f, _, mask = self.encode(pieces, segment=0)
        salience = activation(self.query_salience(self.dropout(f))).squeeze(2) * mask.float()  # (B, L)
        rows = torch.arange(len(pieces))[:, None].expand(salience.shape).flatten()  # (B*L,)
        terms = torch.zeros(salience.shape, dtype=torch.long)  # (B, L)
        for row, text in enumerate(pieces):
            terms[row, : len(text)] = torch.tensor(text, dtype=torch.long)
        size = (len(pieces), self.vocabulary)
        return torch.sparse_coo_tensor(torch.stack((rows, terms.flatten())), salience.flatten(), size, check_invariants=False)


@torch.inference_mode()
def encode(model: PlainEpic, pieces: list[list[int]], batch: int, keep: int) -> bytes:
    """Vectors in their file format: for each passage `keep` term ids, ascending, and as many weights."""
    out = io.BytesIO()
    for start in range(0, len(pieces), batch):
        for vector in model.doc_vectors(pieces[start : start + batch]).numpy().astype(np.float16):  # (V,)
            terms = np.sort(np.argpartition(vector, -keep)[-keep:]).astype(np.int16)  # (keep,)
            out.write(terms.tobytes())
            out.write(vector[terms].tobytes())
    return out.getvalue()


def train_step(model: PlainEpic, optimizer, triples: list) -> float:
    """One step over some triples; each passage's query is encoded for it anew, and the vectors are dense."""
    queries = [example.query for example in triples for _ in range(2)]
    passages = [pieces for example in triples for pieces in (example.relevant, example.other)]
    vectors = model.query_vectors(queries).to_dense(), model.doc_vectors(passages)  # (2B, V) each
    scores = (vectors[0] * vectors[1]).sum(dim=1).view(-1, 2)  # (B, 2)
    loss = (1 - torch.softmax(scores, dim=1)[:, 0]).mean()
    loss.backward()
    if optimizer is not None:
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def lookup(terms: np.ndarray, weights: np.ndarray, rows: list[int], query: Tensor) -> Tensor:
    """Scores of candidates from vectors in memory: all of their terms, one by one, into a sparse tensor."""
    places, ids, values = [], [], []
    for place, row in enumerate(rows):
        found = terms[row]
        places.extend([place] * found.shape[0])
        ids.extend(found)
        values.extend(weights[row])
    size = (len(rows), query.shape[1])
    vectors = torch.sparse_coo_tensor(
        torch.tensor([places, ids]).long(), torch.tensor(values).float(), size, check_invariants=False
    )
    return torch.sparse.mm(vectors, query.to_dense().transpose(1, 0)).squeeze(1)  # (k,)


def dense_lookup(content, vocabulary: int, rows: list[int], query: Tensor) -> Tensor:
    """The same from unpruned vectors in memory, at the query's terms only."""
    places, ids, values = [], [], []
    terms = query.coalesce().indices()[1].tolist()
    for place, row in enumerate(rows):
        for term in terms:
            start = (vocabulary * row + term) * 2
            places.append(place)
            ids.append(term)
            values.append(np.frombuffer(content[start : start + 2], dtype=np.float16)[0])
    size = (len(rows), query.shape[1])
    vectors = torch.sparse_coo_tensor(
        torch.tensor([places, ids]).long(), torch.tensor(values).float(), size, check_invariants=False
    )
    return torch.sparse.mm(vectors, query.to_dense().transpose(1, 0)).squeeze(1)  # (k,)


@torch.inference_mode()
def query_vector(model: PlainEpic, pieces: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Terms and weights of one query."""
    found = model.query_vectors([pieces]).coalesce()
    return found.indices()[1].numpy(), found.values().numpy()


def prune(folder, width: int, keep: int, out) -> None:
    """Vectors of a store with fewer terms, passage by passage, into a file of their format."""
    with open(folder / "terms.u16", "rb") as terms, open(folder / "weights.f16", "rb") as weights, open(out, "wb") as stream:
        while len(block := np.fromfile(terms, np.uint16, 1000 * width)):
            values = np.fromfile(weights, np.float16, len(block))
            for row, vector in zip(block.reshape(-1, width), values.reshape(-1, width), strict=True):
                chosen = np.sort(np.argpartition(vector, -keep)[-keep:])  # (keep,)
                stream.write(row[chosen].tobytes())
                stream.write(vector[chosen].tobytes())
