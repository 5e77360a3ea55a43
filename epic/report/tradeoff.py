"""Effectiveness against milliseconds: what each system gains, and what a query costs."""

from epic.core.files import read_json
from epic.experiment.measure_labels import spoken
from epic.report.charts import PANELS, below, distinct, series_of, styles, titles, together
from epic.report.figures import drawable, drawn
from epic.report.labels import Label, place

FIRST, OTHER = "first stage", "other re-ranker"
MARKS = {FIRST: {"marker": "s", "color": "black", "ms": 5}, OTHER: {"marker": ">", "color": "0.4", "ms": 6}}
NOTHING = "no system has both numbers"
FEWER, FRONT = "timed on fewer queries", "Pareto front"


def tradeoff(table, outs) -> None:
    """Draw the table's measure against milliseconds, with the Pareto front: published on the left, ours on the right.

    First stages and re-rankers that prune nothing have a mark a kind, and their names beside it; rows of a model that prunes are
    a line, with the kept terms beside its points.
    """
    found = read_json(table)
    measure = spoken(found["measure"])
    series = {name: rows for name, rows in series_of(found["rows"]).items() if rows[0]["keep"] is not None}
    looks, labels = styles(series), []
    with drawn(outs, columns=2, size=(11, 5.4)) as panels:
        for axes, (value, ms), title in zip(panels, PANELS.items(), titles(found), strict=True):
            points = points_of(found["rows"], value, ms)
            labels.append(
                _lines(axes, distinct(series, value), points, looks) + _marks(axes, found["rows"], points, value, measure)
            )
            _front(axes, [points[row["id"]] for row in found["rows"] if row["id"] in points and not elsewhere(row, value)])
            _scales(axes, title, measure)
        below(panels, last=(FIRST, OTHER, FEWER, of_another_set(measure), FRONT))
        for axes, some in zip(panels, labels, strict=True):
            place(axes, some)


def points_of(rows: list[dict], value: str, ms: str) -> dict[str, tuple[float, float]]:
    """Return (ms, value) of the rows that have both; of a row without one on the headline query set, that of its own."""
    known = {row["id"]: (row[ms], row["ours"] if elsewhere(row, value) else row[value]) for row in rows}
    return {row: point for row, point in known.items() if all(point)}


def elsewhere(row: dict, value: str) -> bool:
    """Tell whether a row was only evaluated on another query set than the panel is of."""
    return value == "ours_headline" and row[value] is None and row["ours"] is not None


def of_another_set(measure: str) -> str:
    """Return the label of rows that were only evaluated on another query set."""
    return f"{measure} of another query set"


def pareto(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points (ms, value) that no other beats: none is both as fast and better, or faster and as good."""
    front = []
    for ms, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((ms, value))
    return front


def _lines(axes, series: dict, points: dict, looks: dict) -> list[Label]:
    """Draw the rows of each model that prunes, and return the kept terms as labels."""
    labels = []
    for name, rows in series.items():
        shown = [row for row in rows if row["id"] in points]
        if shown:
            axes.plot(*zip(*(points[row["id"]] for row in shown), strict=True), label=drawable(name), **looks[name])
        labels += [Label(*named) for named in together([(points[row["id"]], row["keep"]) for row in shown])]
    return labels


def _marks(axes, rows: list[dict], points: dict, value: str, measure: str) -> list[Label]:
    """Draw first stages and other re-rankers, and return their names as labels; one mark where several have the same values."""
    labels: dict[tuple, Label] = {}
    for row in rows:
        if row["id"] in points and row["keep"] is None and points[row["id"]] not in labels:
            kind, fewer = FIRST if row["kind"] == "first-stage" else OTHER, value != "published" and "ms_queries" in row
            look = MARKS[kind] | ({"mfc": "white"} if fewer else {}) | ({"marker": "x"} if elsewhere(row, value) else {})
            said = of_another_set(measure) if elsewhere(row, value) else FEWER if fewer else kind
            axes.plot(*points[row["id"]], ls="none", label=said, **look)
            labels[points[row["id"]]] = Label(points[row["id"]], name_of(row, value))
    return list(labels.values())


def name_of(row: dict, value: str) -> str:
    """Name a row, with the number of queries or the query set where these are not those of the others."""
    fewer = [f"{row['ms_queries']} queries"] if value != "published" and "ms_queries" in row else []
    notes = fewer + ([row["query_set"]] if elsewhere(row, value) else [])
    return row["label"] + (f": {', '.join(notes)}" if notes else "")


def _front(axes, points: list[tuple[float, float]]) -> None:
    if not points:
        axes.text(0.5, 0.5, NOTHING, ha="center", fontsize=8, color="0.4", transform=axes.transAxes)
    if front := pareto(points):
        look = {"color": "0.6", "lw": 1, "ls": (0, (1, 1)), "zorder": 0}
        axes.step(*zip(*front, strict=True), where="post", label=FRONT, **look)


def _scales(axes, title: str, measure: str) -> None:
    from matplotlib.ticker import LogFormatter

    axes.set_xscale("log")
    for set_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))
    axes.set_xlabel("milliseconds per query (log scale)")
    axes.set_ylabel(measure)
    axes.set_title(title, fontsize=9)
    axes.margins(x=0.12, y=0.1)
