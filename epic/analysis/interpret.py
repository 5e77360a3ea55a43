"""Texts word by word with their weights: the importance of a query's word-pieces (figure 3), and of a passage's, with
the strongest terms that it does not contain and the most frequent terms of the queries predicted for it (figure 4)."""

import logging
from collections import Counter
from itertools import islice

import torch

from epic.core.files import InputError, write_json
from epic.corpus.documents import Documents
from epic.corpus.text_files import read_qrels
from epic.first_stage.anserini import analyze
from epic.first_stage.predicted_queries import predicted_at
from epic.model.epic import EpicModel
from epic.model.tokens import word_of
from epic.vectors.phi import vectors_by_batch

log = logging.getLogger(__name__)
SHOWN = 10
TOKENS_AT_A_TIME = 4096


@torch.inference_mode()
def query_weights(model: EpicModel, text: str) -> dict:
    """Return w_q of each word-piece, one by one: a repeated term may matter more at one position than at another."""
    with model.autocast():
        tokens = model.query_tokens(model.pieces([text]))
        weights = model.equations.w_q(tokens.f).float().tolist()  # (T,)
    return {"text": text, "pieces": _words(model, tokens.ids.tolist()), "weights": weights}


def passage_weights(model: EpicModel, doc_id: str, text: str, block: int) -> dict:
    """Return phi_d at the passage's own word-pieces, and its largest values elsewhere."""
    pieces = model.pieces([text])
    ((_, vectors),) = vectors_by_batch(model, {doc_id: pieces[0]}, TOKENS_AT_A_TIME, block)
    vector, own = vectors[0].astype(float), set(pieces[0])  # (V,)
    order = sorted((term for term in range(len(vector)) if term not in own), key=lambda term: (-vector[term], term))
    strongest = list(islice((term for term in order if not word_of(model.tokenizer, term).startswith("[")), SHOWN))
    return {
        "doc_id": doc_id,
        "text": text,
        "pieces": _words(model, pieces[0]),
        "weights": [float(vector[term]) for term in pieces[0]],
        "expansion": {"pieces": _words(model, strongest), "weights": [float(vector[term]) for term in strongest]},
    }


def _words(model: EpicModel, ids: list[int]) -> list[str]:
    return [word_of(model.tokenizer, term) for term in ids]


def predicted_terms(terms: list[str]) -> dict:
    """Return the most frequent terms of the predicted queries, as the index sees them; equal ones in alphabetic order."""
    counted = sorted(Counter(terms).items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    return {"pieces": [term for term, _ in counted], "weights": [float(count) for _, count in counted]}


def chosen_passages(passages: list, qrels_paths: dict) -> list[str]:
    """Return the document ids that are given, and the first one relevant to each given query; qrels_paths: by query set."""
    found = []
    for passage in passages:
        if isinstance(passage, str):
            found.append(passage)
            continue
        query_set, query = passage["query_set"], passage["query"]
        relevant = [doc_id for doc_id, grade in read_qrels(qrels_paths[query_set]).get(query, {}).items() if grade > 0]
        if not relevant:
            raise InputError(f"texts.passages: no passage is relevant to query {query} of {query_set}; name another one")
        found.append(relevant[0])
    return found


def write_interpretation(
    model: EpicModel, documents: Documents, texts: dict, qrels_paths: dict, predicted: tuple, block: int, out
) -> None:
    """Write the weights of all texts in the experiment; predicted: the published queries, or None, and how many a passage has."""
    doc_ids = chosen_passages(texts["passages"], qrels_paths)
    chosen = dict(zip(doc_ids, documents.texts(doc_ids), strict=True))
    source, samples = predicted
    positions = dict(zip(chosen, documents.positions(chosen), strict=True)) if source else {}
    appended = predicted_at(source, samples, positions) if positions else {}
    passages = []
    for doc_id, text in chosen.items():
        found = passage_weights(model, doc_id, text, block)
        passages.append(found | {"predicted": predicted_terms(analyze(appended[doc_id])) if appended else None})
    queries = [query_weights(model, text) for text in texts["queries"]]
    log.info("%d queries, %d passages", len(queries), len(passages))
    write_json(out, {"queries": queries, "passages": passages})
