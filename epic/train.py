"""Training: triples in order, gradient accumulation, validation by re-ranking, roll-back to the best."""

import logging
import math
from typing import NamedTuple

import torch
from torch import Tensor

from epic.config import TrainSettings
from epic.data import Documents, read_qrels, read_queries
from epic.evaluate import mrr_at_10
from epic.files import InputError, write_text
from epic.log import progress
from epic.model import Epic
from epic.runs import Run, ranked, read_run
from epic.triples import Triple
from epic.unpruned import unpruned_scores
from epic.weigh import weigh

log = logging.getLogger(__name__)


class Validation(NamedTuple):
    """What the model is chosen on: queries, judgments and the first-stage hits that are re-ranked."""

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    run: Run
    token_budget: int


def open_validation(queries, qrels, run, hits: int, token_budget: int) -> Validation:
    """The validation queries with the first `hits` of their first-stage run."""
    return Validation(read_queries(queries), read_qrels(qrels), read_run(run, hits), token_budget)


class Iteration(NamedTuple):
    """One line of the history."""

    iteration: int
    triples: int
    loss: float
    accuracy: float
    validation: float


def cross_entropy(scores: Tensor) -> Tensor:
    """-log softmax of the relevant passage's score, summed; scores (B, 2), the relevant passage first."""
    return -torch.log_softmax(scores, dim=1)[:, 0].sum()  # ()


def train(
    model: Epic,
    triples: list[Triple],
    queries: dict[str, str],
    documents: Documents,
    validation: Validation,
    settings: TrainSettings,
    seed: int,
) -> list[Iteration]:
    """Train until validation stops improving, leave the best weights in `model`, and return the history."""
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(_groups(model, settings), fused=True)
    history: list[Iteration] = []
    best, best_at, best_state = -1.0, 0, None
    for chunk in slices(triples[: settings.max_validations * settings.validate_every], settings.validate_every):
        loss, accuracy = _learn(model, optimizer, chunk, queries, documents, settings)
        value = validate(model, documents, validation)
        seen = len(chunk) + (history[-1].triples if history else 0)
        history.append(Iteration(len(history) + 1, seen, loss, accuracy, value))
        log.info("iteration %d: %d triples, loss %.4f, accuracy %.3f, validation MRR@10 %.4f", *history[-1])
        if value > best:
            best, best_at = value, len(history)
            best_state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        elif len(history) - best_at >= settings.patience:
            break
    log.info("best: iteration %d of %d, MRR@10 %.4f", best_at, len(history), best)
    model.load_state_dict(best_state)
    model.eval()
    return history


def slices(items: list, size: int):
    """Consecutive slices of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _groups(model: Epic, settings: TrainSettings) -> list[dict]:
    """The vectors that start at random have a learning rate of their own."""
    new = [model.theta1, model.theta3, model.theta4]
    return [
        {"params": [*model.body.parameters(), model.Theta2], "lr": settings.learning_rate},
        {"params": new, "lr": settings.learning_rate_new_layers},
    ]


def _learn(model, optimizer, chunk, queries, documents, settings) -> tuple[float, float]:
    """One pass over a chunk of triples in batches; returns the mean loss and the share of pairs in the right order."""
    model.train()
    doc_ids = sorted({doc_id for triple in chunk for doc_id in triple[1:]})
    pieces = dict(zip(doc_ids, model.pieces(documents.texts(doc_ids), settings.max_tokens), strict=True))
    total, right = 0.0, 0
    for batch in progress(list(slices(chunk, settings.batch_size)), desc="train", unit="batch"):
        for part in slices(batch, settings.micro_batch_size):
            scores = triple_scores(model, part, queries, pieces)  # (B, 2)
            loss = cross_entropy(scores)
            if not math.isfinite(loss.item()):
                raise InputError(f"the loss is {loss.item()} at the triples {part}; lower the learning rate")
            (loss / len(batch)).backward()
            total += loss.item()
            right += int((scores[:, 0] > scores[:, 1]).sum())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return total / len(chunk), right / len(chunk)


def triple_scores(model: Epic, triples, queries: dict[str, str], pieces: dict[str, list[int]]) -> Tensor:
    """Scores of the relevant and the other passage of each triple; each query is encoded once."""
    asked = model.encode(model.pieces([queries[triple.query_id] for triple in triples]))  # B queries
    passages = model.encode([pieces[doc_id] for triple in triples for doc_id in triple[1:]])  # 2B passages
    return model.score(asked, passages)  # (B, 2)


def validate(model: Epic, documents: Documents, validation: Validation) -> float:
    """MRR@10 of the validation hits re-ranked with unpruned vectors, over judged queries."""
    model.eval()
    vectors = weigh(model, {query_id: validation.queries[query_id] for query_id in validation.run})
    scored = unpruned_scores(model, documents, vectors, validation.run, validation.token_budget)
    order = {query_id: [hit.doc_id for hit in ranked(hits)] for query_id, hits in scored.items()}
    return mrr_at_10(validation.qrels, order)


def write_history(history: list[Iteration], out) -> None:
    """The history as TSV."""
    lines = ["\t".join(Iteration._fields)]
    lines += ["\t".join(str(value) for value in iteration) for iteration in history]
    write_text(out, "\n".join(lines) + "\n")
