"""Figures: those of the paper, and the course of training."""

from contextlib import contextmanager
from pathlib import Path

from epic.core.files import InputError, replacing
from epic.core.visible import one_line
from epic.experiment.measure_labels import spoken
from epic.training.history import best_of, read_histories
from epic.vectors.frequencies import read_frequencies, share_up_to

PAPER_BLUE, BEST_RED = "#4c72b0", "#c44e52"


def frequencies_figure(frequencies, title: str, outs) -> None:
    """Draw figure 2: the frequency of each value, rounded up to one decimal, in the passage vectors (log scale)."""
    counts = read_frequencies(frequencies)
    with drawn(outs, columns=1) as (axes,):
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


def training_figure(history, title: str, measure: str, outs) -> None:
    """Draw the course of training: loss and accuracy on the triples, and the validation's measure that chooses the model."""
    histories = read_histories(history)
    if not any(histories):
        raise InputError(f"{history}: this model was not trained (loss: null), so there is no course of training to draw")
    with drawn(outs, columns=2) as (left, right):
        for number, iterations in enumerate(histories, start=1):
            _, triples, losses, right_order, validations, _ = zip(*iterations, strict=True)
            for values, color, label in ((losses, PAPER_BLUE, "loss"), (right_order, "0.6", "pairwise accuracy")):
                left.plot(triples, values, marker="o", ms=3, label=label if number == 1 else None, color=color)
            best = best_of(iterations)
            right.plot(triples, validations, marker="o", ms=3, color=PAPER_BLUE)
            right.plot([best.triples], [best.validation], marker="o", ms=8, mfc="none", color=BEST_RED)
            if len(histories) > 1:
                right.annotate(
                    str(number), xy=(triples[-1], validations[-1]), xytext=(4, 0), textcoords="offset points", fontsize=7
                )
        left.set_ylim(bottom=0)
        left.legend(frameon=False, fontsize=8)
        left.set_title(title, fontsize=10, loc="left")
        text = f"best: {best.validation:.4f}, iteration {best.iteration}" if len(histories) == 1 else "the best of each member"
        right.annotate(text, xy=(0.98, 0.05), xycoords="axes fraction", ha="right", fontsize=8, color=BEST_RED)
        right.set_ylabel(f"validation {spoken(measure)}")
        for axes in (left, right):
            axes.set_xlabel("triples" if len(histories) == 1 else "triples of a member")
            axes.margins(x=0.1)


def drawable(text: str) -> str:
    """Return a text as matplotlib draws it unchanged: a dollar is no formula, and a label that begins with _ is not left out."""
    found = one_line(text).replace("$", r"\$")
    return f" {found}" if found.startswith("_") else found


@contextmanager
def drawn(outs, columns: int, size: tuple[float, float] | None = None, height_ratios=(1,), width_ratios=None):
    """Yield the axes of a figure, row by row, and write it to every path of `outs`, the same bytes whenever it is drawn."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = size or (6.4 if columns == 1 else 8, 3.2)
    ratios = {"height_ratios": height_ratios, "width_ratios": width_ratios}
    figure, axes = pyplot.subplots(len(height_ratios), columns, figsize=size, layout="constrained", squeeze=False, **ratios)
    yield tuple(axes.flat)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
    for out in outs:
        kind = Path(out).suffix[1:]
        undated = {"pdf": {"CreationDate": None}}.get(kind)
        with replacing(out) as draft:
            figure.savefig(draft, format=kind, dpi=150, metadata=undated)
    pyplot.close(figure)
