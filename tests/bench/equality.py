"""What "equal" means: the same results up to one step of float16 in a weight, or the rounding of float32 in a sum."""

import numpy as np
import torch


def same_vectors(plain: bytes, terms: np.ndarray, weights: np.ndarray) -> bool:
    """Vectors in the authors' file format against ours, (n, keep) each.

    Weights of common terms and sorted weights differ by at most one float16 step, and term sets only within one step of the
    smallest kept weight.
    """
    rows = np.frombuffer(plain, dtype=np.uint16).reshape(len(terms), -1)  # (n, 2 * keep)
    their_terms, their_weights = rows[:, : terms.shape[1]], rows[:, terms.shape[1] :].view(np.float16)
    if their_terms.shape != terms.shape:
        return False
    return all(_same_vector(*vectors) for vectors in zip(their_terms, their_weights, terms, weights, strict=True))


def _same_vector(their_terms, their_weights, terms, weights) -> bool:
    left, right = np.sort(their_weights).astype(np.float64), np.sort(weights).astype(np.float64)
    step = np.spacing(np.maximum(abs(left), abs(right)).astype(np.float16)).astype(np.float64)
    if not (abs(left - right) <= step).all():
        return False
    _, mine, other = np.intersect1d(terms, their_terms, return_indices=True)  # the same term has the same weight
    if not (
        abs(weights[mine].astype(np.float64) - their_weights[other]) <= np.spacing(abs(weights[mine])).astype(np.float64)
    ).all():
        return False
    odd = np.concatenate([their_weights[~np.isin(their_terms, terms)], weights[~np.isin(terms, their_terms)]]).astype(np.float64)
    return bool((abs(odd - right[0]) <= step[0]).all())


def same_scores(plain, ours) -> bool:
    """Sums of eight products."""
    return np.allclose(np.asarray(plain), np.asarray(ours), rtol=1e-5, atol=1e-6)


def same_queries(plain, ours) -> bool:
    """Terms and weights of one query, to 1e-5."""
    return np.array_equal(plain[0], ours[0]) and np.allclose(plain[1], ours[1], rtol=0, atol=1e-5)


def same_gradients(plain, ours) -> bool:
    """The gradient of every weight the two models share, to a ten-thousandth of its largest value (keys have no bias to speak of)."""
    pairs = [
        *zip(plain.bert.cls.predictions.transform.dense.parameters(), ours.equations.dense.parameters(), strict=True),
        *zip(plain.bert.cls.predictions.transform.LayerNorm.parameters(), ours.equations.norm.parameters(), strict=True),
        (plain.bert.cls.predictions.bias, ours.equations.bias),
        *zip(plain.query_salience.parameters(), ours.equations.theta1.parameters(), strict=True),
        *zip(plain.doc_salience.parameters(), ours.equations.theta3.parameters(), strict=True),
        *zip(plain.doc_quality.parameters(), ours.equations.theta4.parameters(), strict=True),
    ]
    body = dict(plain.bert.bert.named_parameters())
    pairs += [(body[name], weight) for name, weight in ours.body.named_parameters()]
    return all(
        torch.allclose(left.grad, right.grad, rtol=0, atol=1e-4 * float(right.grad.abs().max()) + 1e-8) for left, right in pairs
    )
