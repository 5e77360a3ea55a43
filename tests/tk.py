"""A small TK: a vocabulary in a folder, and settings that differ from each other wherever a mistake could hide."""

from epic.corpus.vocabulary import Word, write

SETTINGS = {
    "layers": 2, "heads": 2, "projection": 4, "feed_forward": 5, "dimensions": 8, "query_words": 4, "passage_words": 7,
    "words": {"tokeniser": "blingfire", "vocabulary": None, "at_least": 1, "most": None, "idf": None, "vectors": None},
}  # fmt: skip
WORDS = ("pool", "price", "of", "a", "b", "c", "café", "cost", "x", "y", "z")


def write_vocabulary(folder, words=WORDS, vectors=None, tokeniser="blingfire"):
    """Write a vocabulary; vectors: (n, d), and which words have one (n,)."""
    write(folder, tokeniser, [Word(word, 1) for word in words], passages=3, vectors=vectors)
    return folder


def entry(**changes):
    """The entry of a model in an experiment."""
    return {"id": "tk", "family": "tk", "settings": SETTINGS | changes, "seed": 3, "encoder": None, "start": None}
