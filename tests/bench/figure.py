"""The figure of the benchmark: how many times as fast, and how much memory, for each work."""

from pathlib import Path

from epic.report.figures import drawn
from tests.bench.measure import Record


def draw(records: list[Record], folder: Path) -> None:
    """bench.png and bench.pdf: ratios with their spread, and peak memory of both ways, on logarithmic scales."""
    with drawn([folder / "bench.png", folder / "bench.pdf"], size=(11, 0.32 * len(records) + 1.6), columns=2) as (left, right):
        places = range(len(records), 0, -1)
        ratios = [record.ratio for record in records]
        spread = [
            [record.ratio - record.ratio_low for record in records],
            [record.ratio_high - record.ratio for record in records],
        ]
        left.barh(places, ratios, color="0.75", edgecolor="black", xerr=spread, error_kw={"capsize": 2, "linewidth": 0.8})
        for place, record in zip(places, records, strict=True):
            left.text(record.ratio_high * 1.12, place, times(record.ratio), va="center", fontsize=8)
        left.set_xscale("log")
        left.set_xlim(min(0.8, *(0.9 * record.ratio_low for record in records)), max(record.ratio_high for record in records) * 4)
        left.axvline(1, color="black", linewidth=0.8)
        left.set_yticks(list(places), [label(record) for record in records], fontsize=8)
        left.set_xlabel("times as fast as the plain way")
        right.scatter([max(1, record.plain_peak_mb) for record in records], places, marker="o", color="0.6", label="plain")
        right.scatter([max(1, record.ours_peak_mb) for record in records], places, marker="x", color="black", label="ours")
        right.set_xscale("log")
        right.grid(axis="y", color="0.9", linewidth=0.8)
        right.set_yticks(list(places), [""] * len(records))
        right.set_ylim(left.get_ylim())
        right.set_xlabel("peak memory above the start, MB (1 or less at 1)")
        right.legend(loc="upper right", fontsize=8)


def times(ratio: float) -> str:
    """A ratio with three digits, never as a power of ten."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def label(record: Record) -> str:
    """What was measured, in a few words."""
    parts = [
        record.work,
        record.model,
        f"batch {record.batch}" if record.batch and record.work in ("encode", "sparse-encoder") else None,
    ]
    parts += [f"k={record.k}" if record.k else None]
    parts += [f"r={record.r}" if record.r else "full" if record.work == "lookup" else None]
    return ", ".join(part for part in parts if part)
