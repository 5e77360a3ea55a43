"""A tiny home of ir_datasets in MS MARCO's own file formats, so that its real loading code runs offline.

ir_datasets takes files that lie at their places as they are, without comparing hashes: the archives written here stand
for the published ones. Everything is there that workflow/experiments/paper.yaml reads through ir_datasets.
"""

import gzip
import io
import os
import sys
import tarfile
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT, TINY
from tests.processes import call

MOJIBAKE, REPAIRED = "a caf\u00c3\u00a9 in the Caf\u00e9 quarter", "a caf\u00e9 in the Caf\u00e9 quarter"
PASSAGES = (
    "the cost of endless pools", "swim spas and their price", MOJIBAKE, "coastal processes shape the shore", "a tow truck comes",
    "bees make honey", "the price of honey",
)  # fmt: skip
FIGURE = "1048578"  # the dev query of the paper's figures 3(c) and 4
TRAIN_FIRST, DEV_FIRST, DL19_FIRST, DL20_FIRST = 2_000_001, 1_100_001, 19_001, 23_001


class Asked(NamedTuple):
    """A query and the positions of its relevant passages; none where it is not judged."""

    text: str
    relevant: tuple[int, ...] = ()


TRAIN = (Asked("price of pools", (0,)), Asked("honey", (5, 6)), Asked("nobody judged this"))
VALIDATION = (Asked("coastal processes are located on what vertebrae", (3,)), Asked("who tows"))
DEV = (
    Asked("cost of endless pools/swim spa", (0, 1)),
    Asked("café quarter", (2,)),
    Asked("also not judged"),
    Asked("towing", (4,)),
)
DL19 = (Asked("how do bees make honey", (5,)), Asked("unjudged of 2019"))
DL20 = (Asked("what is a swim spa", (1,)), Asked("unjudged of 2020"))


def seed(
    home: Path,
    passages: Sequence[str] = PASSAGES,
    train: Sequence[Asked] = TRAIN,
    validation: Sequence[Asked] = VALIDATION,
    dev: Sequence[Asked] = DEV,
    small: int = 2,
    dl19: Sequence[Asked] = DL19,
    dl20: Sequence[Asked] = DL20,
    pairs: int = 12,
) -> dict[str, dict[str, str]]:
    """Write the home; returns query id -> text of each query set.

    `small`: how many of the dev queries, from the first, are also dev/small. `pairs`: training triples, in which every
    judged training query comes in turn, with some of the held-out validation queries between them.
    """
    folder = Path(home) / "msmarco-passage"
    asked = {
        "train": _numbered(train, range(TRAIN_FIRST, TRAIN_FIRST + len(train))),
        "validation": _numbered(validation, held_out(len(validation))),
        "dev": _numbered(dev, [FIGURE, *range(DEV_FIRST, DEV_FIRST + len(dev))][: len(dev)]),
        "dl19": _numbered(dl19, range(DL19_FIRST, DL19_FIRST + len(dl19))),
        "dl20": _numbered(dl20, range(DL20_FIRST, DL20_FIRST + len(dl20))),
    }
    asked["dev-small"] = dict(islice(asked["dev"].items(), small))
    all_train = asked["train"] | asked["validation"]
    _archive(
        folder / "collectionandqueries.tar.gz",
        {
            "collection.tsv": "".join(f"{position}\t{text}\n" for position, text in enumerate(passages)),
            "qrels.dev.small.tsv": _qrels(asked["dev-small"]),
            "queries.eval.small.tsv": "7\tnot used\n",
            "queries.dev.small.tsv": _tsv(asked["dev-small"]),
        },
    )
    _archive(
        folder / "queries.tar.gz",
        {"queries.train.tsv": _tsv(all_train), "queries.dev.tsv": _tsv(asked["dev"]), "queries.eval.tsv": "7\tnot used\n"},
    )
    _write(folder / "train" / "qrels", _qrels(all_train))
    _write(folder / "dev" / "qrels", _qrels(asked["dev"]))
    _gzip(folder / "train" / "docpairs.tsv.gz", "".join(_docpairs(asked["train"], asked["validation"], len(passages), pairs)))
    # ir_datasets downloads these queries to a temporary file, so they stand at the place of what it makes of them.
    _write(folder / "trec-dl-2019" / "queries.tsv", _tsv(asked["dl19"]))
    _write(folder / "trec-dl-2019" / "qrels", _graded(asked["dl19"], len(passages)))
    _gzip(folder / "trec-dl-2020" / "queries.tsv.gz", _tsv(asked["dl20"]))
    _write(folder / "trec-dl-2020" / "qrels", _graded(asked["dl20"], len(passages)))
    return {name: {query_id: query.text for query_id, query in found.items()} for name, found in asked.items()}


def seed_tiny(home: Path, pairs: int = 64) -> dict[str, dict[str, str]]:
    """The same home with the passages and queries of the embedded collection."""
    passages = [line.split("\t")[1] for line in (TINY / "docs.tsv").read_text(encoding="utf-8").splitlines()]
    test = asked_of("test")
    third = len(test) // 3
    figure = Asked("cost of endless pools/swim spa", test[0].relevant)
    return seed(
        home,
        passages,
        train=asked_of("train"),
        validation=asked_of("validation"),
        dev=[figure, *test],
        small=third,
        dl19=test[:third],
        dl20=test[third : 2 * third],
        pairs=pairs,
    )


def asked_of(split: str) -> list[Asked]:
    """The queries of a split of the embedded collection."""
    relevant: dict[str, list[int]] = {}
    for line in (TINY / f"qrels.{split}.txt").read_text().splitlines():
        query_id, _, doc_id, _ = line.split()
        relevant.setdefault(query_id, []).append(int(doc_id))
    queries = (line.split("\t") for line in (TINY / f"queries.{split}.tsv").read_text(encoding="utf-8").splitlines())
    return [Asked(text, tuple(relevant[query_id])) for query_id, text in queries]


def held_out(count: int) -> list[str]:
    """Ids among the 200 held-out training queries that ir_datasets knows, that of the paper's figure first."""
    from ir_datasets.datasets.msmarco_passage import SPLIT200_QIDS

    return ["93927", *sorted(SPLIT200_QIDS - {"93927"}, key=int)][:count]


def run_in(home: Path, code: str, *, prelude: str = "", timeout: float = 120, **environment):
    """Run Python in a process of its own with this home: ir_datasets reads $IR_DATASETS_HOME when it is imported."""
    variables = os.environ | {"IR_DATASETS_HOME": str(home), "IR_DATASETS_DL_TRIES": "1"} | environment
    run = call(run_code, f"{prelude}\n{code}", timeout=timeout, environment=variables)
    run.stderr = run.stdout  # both at once
    return run


def run_code(code: str, *arguments: str) -> None:
    """What `python -c` does."""
    os.chdir(ROOT)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})


def _numbered(queries: Sequence[Asked], ids: Iterable) -> dict[str, Asked]:
    return {str(query_id): query for query_id, query in zip(ids, queries, strict=True)}


def _tsv(queries: dict[str, Asked]) -> str:
    return "".join(f"{query_id}\t{query.text}\n" for query_id, query in queries.items())


def _qrels(queries: dict[str, Asked]) -> str:
    return "".join(f"{query_id}\t0\t{position}\t1\n" for query_id, query in queries.items() for position in query.relevant)


def _graded(queries: dict[str, Asked], count: int) -> str:
    """Judgments as TREC Deep Learning makes them: grades 0 to 3, separated by blanks."""
    lines = []
    for query_id, query in queries.items():
        lines += [f"{query_id} Q0 {position} {3 - min(place, 1)}\n" for place, position in enumerate(query.relevant)]
        if query.relevant:
            others = [position for position in range(count) if position not in query.relevant]
            lines += [f"{query_id} Q0 {position} {grade}\n" for grade, position in zip((1, 0), others, strict=False)]
    return "".join(lines)


def _docpairs(train: dict[str, Asked], validation: dict[str, Asked], count: int, pairs: int):
    judged = [(query_id, query) for query_id, query in train.items() if query.relevant]
    held_out = [(query_id, query) for query_id, query in validation.items() if query.relevant]
    for number, (query_id, query) in enumerate(islice(cycle(judged), pairs)):
        others = [position for position in range(count) if position not in query.relevant]
        yield f"{query_id}\t{query.relevant[number % len(query.relevant)]}\t{others[number % len(others)]}\n"
        if number % 5 == 1 and held_out:
            query_id, query = held_out[number % len(held_out)]
            yield f"{query_id}\t{query.relevant[0]}\t{others[0]}\n"


def _archive(path: Path, files: dict[str, str]) -> None:
    """Members without a leading ./, as Microsoft packs them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


def _gzip(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
