"""Checks of what the paper says about single words, in its figures 3 and 4."""

from epic.evidence import Evidence, Found, UncheckedError, of


def strongest_words(evidence: Evidence, model, text, *words) -> Found:
    """Whether some words are the strongest of a query."""
    weights = _query(evidence, model, text)
    top = sorted(weights, key=lambda word: -weights[word])[: len(words)]
    return Found(
        "strongest" if set(top) == set(words) else "not strongest", set(top) == set(words), f"strongest: {', '.join(top)}"
    )


def stronger_than_half(evidence: Evidence, model, text, word) -> Found:
    """Whether a word is among the stronger half of a query's."""
    weights = _query(evidence, model, text)
    above = sum(weight > weights[word] for weight in weights.values())
    holds = above < len(weights) / 2
    return Found("high" if holds else "not high", holds, f"{above + 1}. of {len(weights)} words")


def _query(evidence: Evidence, model, text) -> dict[str, float]:
    for query in of(evidence.texts, model, "text of this model")["queries"]:
        if query["text"] == text:
            return dict(zip(query["pieces"], query["weights"], strict=True))
    raise UncheckedError("this query is not shown here")


def expands_to(evidence: Evidence, model, words, term) -> Found:
    """Whether a term is among the strongest that a passage, known by some of its words, does not contain."""
    for passage in of(evidence.texts, model, "text of this model")["passages"]:
        if words in passage["text"].lower():
            terms = passage["expansion"]["pieces"]
            return Found("among them" if term in terms else "not among them", term in terms, ", ".join(terms))
    raise UncheckedError("this passage is not shown here")
