"""A small vocabulary on the disk, as the stage `vocabulary` writes it."""

from epic.corpus.vocabulary import Word, write

WORDS = ["pool", "price", "of", "a", "cost", "b", "c", "x"]
IDF = [0.9, 0.7, 0.1, None, 0.6, 0.3, 0.2, 0.8]  # one has none
BEYOND = {"swim": 0.95, "spa": 0.85}  # words that only have an idf


def write_vocabulary(folder, words=WORDS, idf=IDF, beyond=BEYOND, vectors=None):
    """Write the folder; return it."""
    known = [Word(word, 3, value) for word, value in zip(words, idf, strict=True)]
    write(folder, "letters", known, 10, [Word(word, None, value) for word, value in beyond.items()], vectors)
    return folder


def duet_settings(**changes):
    """Settings of a small Duet: 7 windows of a passage, in 3 pools."""
    sizes = {"members": 1, "hidden": 6, "query_words": 5, "passage_words": 9, "window": 3, "pool": 5, "dropout": 0.5}
    words = {"tokeniser": "letters", "vocabulary": None, "at_least": 1, "most": None, "idf": None, "vectors": None}
    return sizes | {"dimensions": 4, "words": words} | changes


def duet_model(**changes):
    """Return such a model's entry in an experiment."""
    return {"id": "duet", "family": "duet", "settings": duet_settings(**changes), "seed": 1, "start": None}
