"""Figures beyond the paper's: effectiveness against r, the cut-off curves; and what all of them share.

They are readable in black and white: series differ by marker and line, bars by hatching. `tradeoff` and `stages` have modules
of their own.
"""

from epic.core.files import read_json
from epic.experiment.measure_labels import spoken
from epic.report.figures import PAPER_BLUE, drawable, drawn

MARKERS = ("o", "D", "^", "v", "P", "X", "*", "<")
LINES = ("-", "--", "-.", ":")
PANELS = {"published": "published_ms", "ours_headline": "ours_ms"}  # values, and the milliseconds that belong to them
COLORS = (PAPER_BLUE, "#dd8452", "#55a868", "#8172b3", "#937860", "#da8bc3")
NOT_THE_PAPERS = {f"other {what}" for what in ("collection", "field", "encoder")}  # data of these say nothing about the published
AT_THE_FOOT = {"xycoords": ("data", "axes fraction"), "xytext": (3, 0), "textcoords": "offset points", "fontsize": 6}


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
    """Draw the table's measure against r: published on the left, ours on the right."""
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
            axes.set_ylabel(spoken(found["measure"]))
            axes.set_title(title, fontsize=9)
        below(panels)


def titles(found: dict) -> tuple[str, str]:
    """Return the titles of the two panels; ours is of one query set, and its title says if the data are not the paper's."""
    reasons = {reason for row in found["rows"] for reason in row["because"]} & NOT_THE_PAPERS
    return "published", f"ours, on {found['headline']}" + (" (not comparable)" if reasons else "")


def cutoffs(curves: dict, published: dict, measure: str, outs) -> None:
    """Draw the measure of the tuning queries against the re-ranking cut-off.

    curves: model -> first stage -> path, published: by first stage.
    """
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
            axes.set_ylabel(f"{spoken(measure)}, tuning queries")
            axes.set_title(f"model {model}", fontsize=9)
        below(panels)


def below(panels, last: tuple[str, ...] = ()) -> None:
    """Draw one legend for all panels, under them; last: labels that stand at its end, in this order."""
    figure, found = panels[0].figure, {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    found = {label: found[label] for label in sorted(found, key=lambda label: last.index(label) if label in last else -1)}
    figure.legend(found.values(), found, loc="outside lower center", ncols=4, fontsize=7, frameon=False)


def published_cutoffs(claims) -> dict[str, int]:
    """Return the published cut-offs, which are claims of the paper's authors, by first stage."""
    found = {claim["id"]: claim["published"] for claim in read_json(claims)["claims"]}
    return {name.removeprefix("cutoff-"): value for name, value in found.items() if name.startswith("cutoff-")}
