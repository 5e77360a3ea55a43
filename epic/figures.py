"""Figures of the paper."""

from pathlib import Path

from epic.files import whole
from epic.frequencies import read_frequencies, share_up_to

PAPER_BLUE = "#4c72b0"


def frequencies_figure(frequencies, title: str, outs) -> None:
    """Figure 2: how often each value, rounded up to one decimal, occurs in the passage vectors (log scale)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    counts = read_frequencies(frequencies)
    figure, axes = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
    axes.bar([tenth / 10 for tenth in counts], list(counts.values()), width=0.08, color=PAPER_BLUE)
    axes.set_yscale("log")
    axes.set_xlabel("value, rounded up to one decimal")
    axes.set_ylabel("occurrences")
    axes.set_title(title, fontsize=10)
    axes.annotate(
        f"{100 * share_up_to(counts, 1):.1f} % of all values\nare 0.1 or below (paper: about 74 %)",
        xy=(0.98, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        fontsize=9,
    )
    axes.spines[["top", "right"]].set_visible(False)
    for out in outs:
        kind = Path(out).suffix[1:]
        undated = {"pdf": {"CreationDate": None}}.get(kind)  # the same bytes whenever it is drawn
        with whole(out) as draft:
            figure.savefig(draft, format=kind, dpi=150, metadata=undated)
    pyplot.close(figure)
