"""A file of training triples, of which millions need not be in memory."""

from collections.abc import Container, Iterator
from itertools import islice

from epic.core.files import InputError
from epic.corpus.text_files import Triple, triples

LINES_BETWEEN = 1000  # two places that are remembered


class TripleFile:
    """The triples of a file that is not compressed, read when they are asked for: of each thousand lines one place is in memory.

    Queries are those that triples may name; another one is refused, with its line.
    """

    def __init__(self, path, queries: Container[str], named):
        self.path, self.places, count, place = path, [], 0, 0
        for count, (triple, line) in enumerate(zip(triples(path), _raw_lines(path), strict=True), start=1):
            if triple.query_id not in queries:
                raise InputError(f"{path} line {count}: query {triple.query_id} is not in {named}")
            if (count - 1) % LINES_BETWEEN == 0:
                self.places.append(place)
            place += len(line)
        self.count = count

    def __len__(self) -> int:
        return self.count

    def between(self, start: int, stop: int) -> list[Triple]:
        """Return the triples from `start` on, before `stop`."""
        if start >= min(stop, self.count):
            return []
        with open(self.path, "rb") as stream:
            stream.seek(self.places[start // LINES_BETWEEN])
            lines = islice(stream, start % LINES_BETWEEN, start % LINES_BETWEEN + stop - start)
            return [Triple(*line.decode().removesuffix("\n").split("\t")) for line in lines]


def _raw_lines(path) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        yield from stream
