"""How time and memory grow: encoding and pruning with the collection, evaluation with the run, each in a process of its own.

python -m tests.bench.growth encode|prune PASSAGES FOLDER
python -m tests.bench.growth evaluate QUERIES FOLDER         200 hits a query
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tests import measures
from tests.bench import inputs
from tests.bench.measure import status, trimmed
from tests.vectors import spoken

SIZES = {"encode": (1000, 20_000), "prune": (1000, 20_000), "evaluate": (1000, 55_578)}  # the judged dev queries
HITS = 200


def measure(scratch: Path) -> dict:
    """Seconds per 1,000 passages or queries, and how far memory grows beyond the loaded program, at both sizes."""
    found = {}
    for work, sizes in SIZES.items():
        for documents in sizes:
            if work == "prune":
                inputs.write_store(scratch / "grown", documents, 2000)
            command = [sys.executable, "-m", "tests.bench.growth", work, str(documents), str(scratch)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            took, peak = json.loads(output.splitlines()[-1])
            text = f"{1000 * took / documents:.3g} s per 1,000, {peak:.0f} MB more than before"
            what = "queries" if work == "evaluate" else "passages"
            found.setdefault("growth with the collection", {})[f"{work}, {documents} {what}"] = text
            shutil.rmtree(scratch / "grown", ignore_errors=True)
    return found


class ShortTexts:
    """Passages of about ten word-pieces: the collection is large, the time is not."""

    def __init__(self, count: int):
        self.words, self.count = inputs.DOCS.read_text(encoding="utf-8").split(), count

    def __len__(self) -> int:
        return self.count

    def span(self, positions: range):
        for place in positions:
            start = 8 * place % (len(self.words) - 8)
            yield str(place), " ".join(self.words[start : start + 8])


def main(work: str, documents: int, folder: str) -> None:
    """Do the work, and print the seconds it took and the MB by which memory grew meanwhile."""
    from epic.model.device import prepare

    prepare("cpu", threads=1)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        run = {"encode": encode, "prune": prune, "evaluate": evaluate}[work](documents, Path(folder), Path(scratch, "out"))
        resident, start = trimmed(), perf_counter()
        run()
        print(json.dumps([perf_counter() - start, (status("VmHWM") - resident) / 1024]))


def encode(documents: int, folder: Path, out: Path):
    """A function that encodes a collection of so many passages."""
    from epic.experiment.settings import EncodeSettings
    from epic.vectors.encode import encode_shard

    model, settings = inputs.minilm(), EncodeSettings(keep=[100, 1000, 2000], token_budget=4096, vocabulary_block=1024)
    encode_shard(
        model, "bench", spoken(model, ShortTexts(1)), settings, out.with_name("first")
    )  # what is compiled is compiled now
    return lambda: encode_shard(model, "bench", spoken(model, ShortTexts(documents)), settings, out)


def prune(documents: int, folder: Path, out: Path):
    """A function that prunes the store in the folder."""
    from epic.vectors.prune import prune

    inputs.write_store(out.with_name("few"), 10, 2000)
    prune([out.with_name("few")], 1000, 10, out.with_name("first"))  # what is compiled is compiled now
    return lambda: prune([folder / "grown"], 1000, documents, out)


def evaluate(queries: int, folder: Path, out: Path):
    """A function that evaluates a run of so many queries, written here."""
    from epic.evaluation.evaluate import evaluate
    from tests.query_sets import answered, counted

    run, texts, qrels = (out.with_name(name) for name in ("made.run", "queries.tsv", "qrels.txt"))
    with open(run, "w") as stream:
        for query in range(queries):
            hits = enumerate(range(37 * query, 37 * query + HITS), start=1)
            stream.writelines(f"{query} Q0 {doc} {rank} {1 / rank:.6f} made\n" for rank, doc in hits)
    texts.write_text("".join(f"{query}\ta question\n" for query in range(queries)))
    qrels.write_text("".join(f"{query} 0 {37 * query + query % 12} 1\n" for query in range(queries)))
    paths = run, answered(texts, run), texts, qrels, counted(texts, qrels)
    wanted = [measures.measure(name) for name in ("RR@10", "nDCG@10", "AP", f"R@{HITS}")]
    return lambda: evaluate(*paths, wanted, out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
