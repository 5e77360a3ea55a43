"""How time and memory grow with the collection: encoding and pruning in processes of their own, at two sizes.

python -m tests.bench.growth encode|prune DOCUMENTS FOLDER
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

SIZES = (1000, 20_000)


def measure(scratch: Path) -> dict:
    """Seconds per 1,000 passages and peak memory of the whole process, at both sizes."""
    found = {}
    for work in ("encode", "prune"):
        for documents in SIZES:
            command = [sys.executable, "-m", "tests.bench.growth", work, str(documents), str(scratch)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            took, peak = json.loads(output.splitlines()[-1])
            text = f"{1000 * took / documents:.2f} s per 1,000, peak {peak:.0f} MB"
            found.setdefault("growth with the collection", {})[f"{work}, {documents} passages"] = text
    return found


class ShortTexts:
    """Passages of about ten word-pieces: the collection is large, the time is not."""

    def __init__(self, count: int):
        from tests.bench import inputs

        self.words, self.count = inputs.DOCS.read_text(encoding="utf-8").split(), count

    def __len__(self) -> int:
        return self.count

    def span(self, positions: range):
        for place in positions:
            start = 8 * place % (len(self.words) - 8)
            yield str(place), " ".join(self.words[start : start + 8])


def main(work: str, documents: int, folder: str) -> None:
    from epic.compute import prepare
    from tests.bench import inputs

    prepare("cpu", threads=1)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if work == "encode":
            from epic.config import EncodeSettings
            from epic.encode import encode_shard

            model, texts = inputs.minilm(), ShortTexts(documents)
            start = perf_counter()
            encode_shard(model, "bench", texts, "1-of-1", EncodeSettings(2000, 4096, 1024), Path(scratch, "out"))
        else:
            from epic.prune import prune

            inputs.write_store(Path(scratch, "wide"), documents, 2000)
            start = perf_counter()
            prune([Path(scratch, "wide")], 1000, documents, Path(scratch, "out"))
        print(json.dumps([perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
