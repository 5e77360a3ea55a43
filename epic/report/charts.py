"""Figures beyond the paper's: effectiveness against latency and against r, the cut-off curves, latency by stage.

They are readable in black and white: series differ by marker and line, bars by hatching.
"""

from epic.core.files import read_json
from epic.report.figures import PAPER_BLUE, drawable, drawn

MARKERS = ("o", "D", "^", "v", "P", "X", "*", "<")
LINES = ("-", "--", "-.", ":")
PANELS = {"published": "published_ms", "ours_headline": "ours_ms"}  # values, and the milliseconds that belong to them
COLORS = (PAPER_BLUE, "#dd8452", "#55a868", "#8172b3", "#937860", "#da8bc3")
HATCHES = {"retrieve": "", "load": "////", "query_vector": "....", "score": "xxxx"}
AT_THE_FOOT = {"xycoords": ("data", "axes fraction"), "xytext": (3, 0), "textcoords": "offset points", "fontsize": 6}
SHADES = {"retrieve": "0.75", "load": "0.9", "query_vector": "#a8c0e0", "score": "0.35"}


def series_of(rows: list[dict]) -> dict[str, list[dict]]:
    """Group rows by series, each with one marker: each first stage alone, and each model on each first stage."""
    found: dict[str, list[dict]] = {}
    for row in rows:
        if row["kind"] == "first-stage":
            found[row["label"]] = [row]
        elif row["kind"] == "model":
            found.setdefault(f"{row['model']} on {row['first_stage']}", []).append(row)
    return found


def styles(names) -> dict[str, dict]:
    """Return a marker, a line and a colour for each series, always the same ones."""
    common = {"lw": 1, "ms": 6, "mfc": "white"}
    return {name: {"marker": MARKERS[place % len(MARKERS)]} | line(place) | common for place, name in enumerate(names)}


def line(place: int) -> dict:
    """Return the look of a line."""
    return {"ls": LINES[place % len(LINES)], "color": COLORS[place % len(COLORS)]}


def pareto(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points (ms, MRR) that no other beats: none is both as fast and better, or faster and as good."""
    front = []
    for ms, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((ms, value))
    return front


def tradeoff(table, outs) -> None:
    """Draw MRR@10 against milliseconds, with the Pareto front: published on the left, ours on the right."""
    from matplotlib.ticker import LogFormatter

    found = read_json(table)
    series = series_of(found["rows"])
    looks = styles(series)
    with drawn(outs, columns=2, size=(9, 4.4)) as panels:
        for axes, (value, ms), title in zip(panels, PANELS.items(), titles(found), strict=True):
            points = {row["id"]: (row[ms], row[value]) for row in found["rows"] if row[ms] and row[value]}
            for name, rows in distinct(series, value).items():
                shown = [row for row in rows if row["id"] in points]
                if shown:
                    axes.plot(*zip(*(points[row["id"]] for row in shown), strict=True), label=drawable(name), **looks[name])
                for point, labels in together([(points[row["id"]], row["keep"]) for row in shown if row["keep"]]):
                    note(axes, point, labels, (4, 4 if value == "published" or list(series).index(name) % 2 else -9))
            for row in found["rows"]:
                if row["kind"] not in ("first-stage", "model") and row["id"] in points:
                    axes.plot(*points[row["id"]], marker="x", color="0.3", ls="none")
                    note(axes, points[row["id"]], row["label"], (6 if points[row["id"]][0] < 1000 else -6, -2))
            if front := pareto(list(points.values())):
                look = {"color": "0.6", "lw": 1, "ls": (0, (1, 1)), "zorder": 0}
                axes.step(*zip(*front, strict=True), where="post", label="Pareto front", **look)
            axes.set_xscale("log")
            for axis_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
                axis_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))
            axes.set_xlabel("milliseconds per query (log scale)")
            axes.set_ylabel("MRR@10")
            axes.set_title(title, fontsize=9)
            axes.margins(x=0.12)
        below(panels)


def distinct(series: dict[str, list[dict]], value: str) -> dict[str, list[dict]]:
    """Drop series that would be drawn on top of another: published values are the same for every model."""
    found: dict[tuple, str] = {}
    for name, rows in series.items():
        found.setdefault(tuple((row["first_stage"], row["keep"], row[value]) for row in rows), name)
    return {name: series[name] for name in found.values()}


def together(points: list[tuple[tuple[float, float], object]]) -> list[tuple[tuple[float, float], str]]:
    """Join the labels of points so near to each other that they would overlap."""
    found: list[tuple[tuple[float, float], list[str]]] = []
    for (ms, value), label in points:
        near = next((labels for (x, y), labels in found if abs(ms / x - 1) < 0.2 and abs(value - y) < 0.004), None)
        if near is None:
            found.append(((ms, value), [str(label)]))
        else:
            near.append(str(label))
    return [(point, ", ".join(labels)) for point, labels in found]


def note(axes, point, text: str, offset: tuple[int, int] = (4, 4)) -> None:
    """Write a few words beside a point, to the left of it if the offset is negative."""
    side = "left" if offset[0] > 0 else "right"
    axes.annotate(drawable(text), point, xytext=offset, textcoords="offset points", fontsize=6, ha=side)


def pruning(table, outs) -> None:
    """Draw MRR@10 against r: published on the left, ours on the right."""
    found = read_json(table)
    series = series_of([row for row in found["rows"] if row["keep"] is not None])  # a row that precomputes nothing prunes nothing
    looks = styles(series)
    keeps = sorted({row["keep"] for rows in series.values() for row in rows}, key=lambda keep: (keep == "full", keep))
    with drawn(outs, columns=2, size=(9, 3.8)) as panels:
        for axes, value, title in zip(panels, PANELS, titles(found), strict=True):
            for name, rows in distinct(series, value).items():
                known = sorted((keeps.index(row["keep"]), row[value]) for row in rows if row[value] is not None)
                if known:
                    axes.plot(*zip(*known, strict=True), label=drawable(name), **looks[name])
            axes.set_xticks(range(len(keeps)), [str(keep) for keep in keeps])
            axes.set_xlabel("r, terms kept per passage")
            axes.set_ylabel("MRR@10")
            axes.set_title(title, fontsize=9)
        below(panels)


def titles(found: dict) -> tuple[str, str]:
    """Return the titles of the two panels; ours is of one query set, and its title says if the data are not the paper's."""
    reasons = {reason for row in found["rows"] for reason in row["because"]} & {"other collection", "other encoder"}
    return "published", f"ours, on {found['headline']}" + (" (not comparable)" if reasons else "")


def cutoffs(curves: dict, published: dict, outs) -> None:
    """Draw validation MRR@10 against the re-ranking cut-off; curves: model -> first stage -> path, published: by first stage."""
    with drawn(outs, columns=len(curves), size=(4.5 * len(curves), 3.6)) as panels:
        for axes, (model, stages) in zip(panels, curves.items(), strict=True):
            for place, (stage, path) in enumerate(stages.items()):
                found, look = read_json(path), line(place)
                axes.plot(range(1, len(found["curve"]) + 1), found["curve"], lw=1.2, label=stage, **look)
                best = found["cutoff"], found["curve"][found["cutoff"] - 1]
                axes.plot(*best, marker=MARKERS[place], color="black", mfc="white", ls="none")
                note(axes, best, str(found["cutoff"]))
                if stage in published:
                    axes.axvline(published[stage], lw=0.8, **look)
                    axes.annotate(f"published: {published[stage]}", (published[stage], 0.02 + 0.06 * place), **AT_THE_FOOT)
            axes.set_xlabel("hits that are re-ranked")
            axes.set_ylabel("MRR@10, tuning queries")
            axes.set_title(f"model {model}", fontsize=9)
        below(panels)


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


def stages(table, latencies: dict, outs) -> None:
    """Draw the time by stage: each row has a lane for stages that run at once, two if one is computed beside retrieval."""
    labels = {row["id"]: row["label"] for row in read_json(table)["rows"]}
    timed = {row: read_json(path) for row, path in latencies.items()}
    drawn_stages: dict[str, dict] = {}
    with drawn(outs, columns=1, size=(9, 0.42 * len(timed) + 1)) as (axes,):
        for place, found in enumerate(timed.values()):
            ms = {stage: values["mean"] for stage, values in found["ms"].items()}
            for stage, lane, start in lanes_of(ms, found["stages"]):
                known = stage in drawn_stages
                look = drawn_stages.setdefault(stage, look_of(stage, len(drawn_stages)))
                label = None if known else drawable(stage.replace("_", " "))
                axes.barh(place - 0.2 + 0.4 * lane, ms[stage], left=start, height=0.36, label=label, **look)
            axes.plot(ms["total"], place, marker="|", ms=14, color="black", ls="none", label="total" if place == 0 else None)
        axes.set_yticks(range(len(timed)), [drawable(labels[row]) for row in timed], fontsize=8)
        axes.set_ylim(len(timed) - 0.4, -0.6)
        axes.set_xlabel("milliseconds per query, mean")
        axes.legend(frameon=False, fontsize=8, ncols=5, loc="lower center", bbox_to_anchor=(0.4, 1.0))


def look_of(stage: str, place: int) -> dict:
    """Return the look of a stage's bars: EPIC's stages have their own, others one by their position."""
    shades, hatches = list(SHADES.values()), list(HATCHES.values())
    color, hatch = SHADES.get(stage, shades[place % len(shades)]), HATCHES.get(stage, hatches[place % len(hatches)])
    return {"color": color, "hatch": hatch, "edgecolor": "black", "lw": 0.4}


def below(panels) -> None:
    """Draw one legend for all panels, under them."""
    figure, found = panels[0].figure, {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(found.values(), found, loc="outside lower center", ncols=4, fontsize=7, frameon=False)


def published_cutoffs(claims) -> dict[str, int]:
    """Return the published cut-offs, which are claims of the paper's authors, by first stage."""
    found = {claim["id"]: claim["published"] for claim in read_json(claims)["claims"]}
    return {name.removeprefix("cutoff-"): value for name, value in found.items() if name.startswith("cutoff-")}
