"""Where the time of a query goes, beside what was done before any query came.

Lengths of bars are times, so their axes are linear: stacked on a logarithmic axis, the stage that comes first would look longest
whatever it takes. Systems of very different times stand in panels of their own instead, each with its own axis.
"""

import math
from itertools import pairwise

from epic.core.files import read_json
from epic.report.figures import drawable, drawn

HATCHES = {"retrieve": "", "load": "////", "query_vector": "....", "score": "xxxx"}
SHADES = {"retrieve": "0.75", "load": "0.9", "query_vector": "#a8c0e0", "score": "0.35"}
SPAN = 20  # no bar is shorter than this part of the longest in its panel
UNITS = ((3600, "hours"), (60, "minutes"), (1, "seconds"))
BEFORE, AT_QUERY_TIME = "done before any query", "at query time: milliseconds per query, mean"
NOTHING = "only the index"
NOT_TIMED = "nothing was timed"
LONGEST_LABEL = 64  # letters


def stages(table, latencies: dict, before: dict, costs: dict, outs) -> None:
    """Draw the time by stage: each row has a lane for stages that run at once, two if one is computed beside retrieval.

    before: by row, what was done to passages beforehand, and the model by which it was done if its time is known from `costs`.
    """
    labels = {row["id"]: row["label"] for row in read_json(table)["rows"]}
    timed = {row: read_json(path) for row, path in latencies.items()}
    hours = {model: read_json(path) for model, path in costs.items()}
    if not timed:
        with drawn(outs, columns=1) as (axes,):
            axes.text(0.5, 0.5, NOT_TIMED, ha="center", va="center", fontsize=8, color="0.4")
            axes.set_axis_off()
        return
    panels, looks = panels_of({row: found["ms"]["total"]["mean"] for row, found in timed.items()}), {}
    heights = [len(panel) for panel in panels]
    size = 10.5, 0.29 * sum(heights) + 0.35 * len(panels) + 0.7
    with drawn(outs, columns=2, size=size, height_ratios=heights, width_ratios=(1, 3)) as axes:
        for number, panel in enumerate(panels):
            left, right = axes[2 * number : 2 * number + 2]
            _beforehand(left, [done_of(before.get(row, []), hours) for row in panel], [shortened(labels[row]) for row in panel])
            for place, row in enumerate(panel):
                _bars(right, place, timed[row], looks)
            _axis(right, len(panel), max(timed[row]["ms"]["total"]["mean"] for row in panel))
        axes[0].set_title(BEFORE, fontsize=8)
        axes[1].set_title(AT_QUERY_TIME, fontsize=8)
        _legend(axes[0].figure, looks)


def panels_of(totals: dict[str, float]) -> list[list[str]]:
    """Split rows by their milliseconds, the fast ones first, so that every bar of a panel can be seen beside its longest.

    There are as few panels as can be, and they are parted where times differ most.
    """
    times = sorted(set(totals.values()))
    best = [(0, 0.0, ())]  # of the first i times: panels, minus the logarithm of the gaps between them, where they begin
    for end in range(1, len(times) + 1):
        begins = [begin for begin in range(end) if times[end - 1] <= SPAN * times[begin]]
        gaps = {begin: math.log(times[begin] / times[begin - 1]) if begin else 0.0 for begin in begins}
        best.append(min((best[begin][0] + 1, best[begin][1] - gaps[begin], (*best[begin][2], begin)) for begin in begins))
    parts = [times[begin:end] for begin, end in pairwise((*best[-1][2], len(times)))]
    return [[row for row, ms in totals.items() if ms in part] for part in parts]


def done_of(done: list[dict], costs: dict) -> list[str]:
    """Say what was done before any query, with the time that it takes for all passages at the rate that was measured."""
    words = []
    for one in done:
        found = costs.get(one.get("model"))
        words.append(one["says"] + (f", {duration(found['passages'] / found['passages_per_second'])}" if found else ""))
    return words


def shortened(label: str) -> str:
    """Return a label of which there is room for bars beside it."""
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which there are two or more."""
    size, name = next(((size, name) for size, name in UNITS if seconds >= 2 * size), UNITS[-1])
    return f"{seconds / size:.2g} {name}" if seconds < 100 * size else f"{seconds / size:.0f} {name}"


def lanes_of(ms: dict[str, float], stages: dict) -> list[tuple[str, int, float]]:
    """Return (stage, lane, start): lanes run beside each other, and the stages after them begin when the longest has ended."""
    found, ends = [], []
    for lane, names in enumerate(stages["beside"]):
        start = 0.0
        for name in names:
            found.append((name, lane, start))
            start += ms[name]
        ends.append(start)
    start = max(ends)
    for name in stages["after"]:
        found.append((name, 0, start))
        start += ms[name]
    return found


def _beforehand(axes, done: list[list[str]], labels: list[str]) -> None:
    """Write for each row what was done beforehand, on a ground of its own where passages went through a model."""
    for place, said in enumerate(done):
        if said:
            axes.barh(place, 1, height=0.84, color="0.9", edgecolor="0.6", lw=0.5)
        text, color = "\n".join(map(drawable, said)) or NOTHING, "black" if said else "0.45"
        axes.text(0.5, place, text, fontsize=5.6, ha="center", va="center", color=color, linespacing=1.15)
    axes.set_xlim(-0.01, 1.01)
    axes.set_xticks([])
    axes.set_yticks(range(len(labels)), [drawable(label) for label in labels], fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


def _bars(axes, place: int, found: dict, looks: dict) -> None:
    """Draw the stages of a row, and write its total, the hits it re-ranks, and its queries if they are fewer than others'."""
    ms = {stage: values["mean"] for stage, values in found["ms"].items()}
    lanes = len(found["stages"]["beside"])
    height = 0.8 / lanes
    for stage, lane, start in lanes_of(ms, found["stages"]):
        look = looks.setdefault(stage, look_of(stage, len(looks)))
        axes.barh(place - 0.4 + height * (lane + 0.5), ms[stage], left=start, height=0.9 * height, **look)
    axes.plot([ms["total"]] * 2, [place - 0.42, place + 0.42], color="black", lw=1.4, solid_capstyle="butt")
    notes = [f"{found['reranked']} hit{'s' * (found['reranked'] != 1)}"] if "reranked" in found else []
    notes += [f"{found['queries']} queries"] if "instead_of" in found else []
    more = f" ({', '.join(notes)})" if notes else ""
    said = f"{ms['total']:,.0f}" if ms["total"] >= 100 else f"{ms['total']:.1f}"
    axes.annotate(f"{said} ms{more}", (ms["total"], place), xytext=(4, 0), textcoords="offset points", fontsize=6.5, va="center")


def _axis(axes, rows: int, longest: float) -> None:
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_xlim(0, 1.3 * (longest or 1))
    axes.tick_params(labelsize=7)


def look_of(stage: str, place: int) -> dict:
    """Return the look of a stage's bars: common stages have their own, others one by their position."""
    shades, hatches = list(SHADES.values()), list(HATCHES.values())
    color, hatch = SHADES.get(stage, shades[place % len(shades)]), HATCHES.get(stage, hatches[place % len(hatches)])
    return {"color": color, "hatch": hatch, "edgecolor": "black", "lw": 0.4}


def _legend(figure, looks: dict) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=look["color"], hatch=look["hatch"], edgecolor="black", lw=0.4, label=drawable(stage.replace("_", " ")))
        for stage, look in looks.items()
    ]
    handles.append(Line2D([], [], marker="|", ms=10, mew=1.4, color="black", ls="none", label="total"))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=6, fontsize=7, frameon=False, handleheight=1.4, handlelength=2.6
    )
