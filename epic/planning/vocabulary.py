"""The cost of a vocabulary of words: counting the collection, and reading pre-trained vectors."""

import math
from pathlib import Path

from epic.core.files import size_of
from epic.corpus.folder import file_of
from epic.experiment.lookup import download_named, find
from epic.planning import rates
from epic.planning.amounts import Cost, Given, Job


def cost(job: Job, settings: dict, given: Given) -> Cost:
    """Estimate the job that makes a model's vocabulary."""
    said, passages = find(settings["models"], job.wildcards["model"])["settings"], given.collection.passages
    words, vectors = said["words"], said["words"].get("vectors")
    known = min(words.get("most") or math.inf, rates.words_in(passages))
    size = known * (rates.WORD_LINE + (4 * said["dimensions"] if vectors else 0))
    counted = 0 if words.get("vocabulary") and words.get("idf") else passages
    seconds = rates.START + counted * (rates.READ + rates.COUNT_WORDS[words["tokeniser"]]) + size * rates.DISK
    return Cost(size, seconds + (_bytes_of(vectors, settings) * _pace(vectors) if vectors else 0.0))


def _pace(vectors: str) -> float:
    return rates.READ_VECTORS[".zip" if Path(vectors).suffix == ".zip" else ".txt"]


def _bytes_of(source: str, settings: dict) -> float:
    """Return the size of path:FILE or download:FILE, assumed if it is not published."""
    if source.startswith("download:"):
        return download_named(settings, source.removeprefix("download:"))["bytes"] or rates.DOWNLOAD_OF_UNKNOWN_SIZE
    return size_of(file_of(source, str))
