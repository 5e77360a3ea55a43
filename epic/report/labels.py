"""Labels beside the points of a chart, moved until none covers another label or a point."""

import math
from itertools import pairwise
from typing import NamedTuple

from epic.report.figures import drawable

NEAR, FAR = 5, 12  # points between a mark and its label; beyond FAR a line leads to it
DISTANCES = (NEAR, 10, 16, 24, 34, 46, 60)
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # right, left, above, below, corners
MARK = 3.5  # points from the middle of a mark to its edge
SAME = 24  # points between two marks for which the same words are written once


class Label(NamedTuple):
    """Words for a point, which is (x, y) in the units of its axes."""

    point: tuple[float, float]
    text: str


def place(axes, labels: list[Label]) -> list:
    """Write labels where they cover neither each other nor what is drawn, as near to their points as can be; return the texts.

    The same words for points beside each other are written once. Everything else must have been drawn: where the axes are on the
    figure decides what covers what.
    """
    axes.figure.draw_without_rendering()
    drawn = [box for line in axes.get_lines() for box in _along(axes, line)]
    texts = {}
    for label in labels:
        spot = axes.transData.transform(label.point)
        if any(label.text == words and math.dist(spot, other) < SAME * axes.figure.dpi / 72 for words, other in texts):
            continue
        text = axes.annotate(
            drawable(label.text), label.point, textcoords="offset points", xytext=(0, 0), fontsize=6.5, annotation_clip=False
        )
        text.set_in_layout(False)  # else the axes would move, and all that was found with them
        _move(axes, text, label.point, [*drawn, *map(_box, texts.values())])
        texts[label.text, tuple(spot)] = text
    return list(texts.values())


def _move(axes, text, point, taken: list) -> None:
    """Put a text at the first offset where it covers nothing; where there is none, at the one where it covers least."""
    best = None
    for distance in DISTANCES:
        for side in SIDES:
            _put(text, side, distance)
            covered = _covered(axes, _box(text), taken)
            if best is None or covered < best[0]:
                best = covered, side, distance
            if not covered:
                break
        if not best[0]:
            break
    _, side, distance = best
    _put(text, side, distance)
    if distance > FAR:
        line = {"arrowstyle": "-", "lw": 0.4, "color": "0.5", "shrinkA": 0, "shrinkB": MARK}
        axes.annotate("", point, xytext=text.xyann, textcoords="offset points", arrowprops=line).set_in_layout(False)


def _put(text, side: tuple[int, int], distance: float) -> None:
    across, up = side
    scale = 0.7 if across and up else 1
    text.xyann = across * distance * scale, up * distance * scale
    text.set_ha({1: "left", 0: "center", -1: "right"}[across])
    text.set_va({1: "bottom", 0: "center", -1: "top"}[up])


def _covered(axes, box, taken: list) -> float:
    """Return the area of what a box covers, in pixels: labels, lines, marks, and what lies beyond the axes."""
    outside = box.width * box.height - _overlap(box, axes.get_window_extent())
    return outside + sum(_overlap(box, other) for other in taken)


def _overlap(one, other) -> float:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(0.0, width) * max(0.0, height)


def _box(text):
    return text.get_window_extent(text.figure.canvas.get_renderer())


def _along(axes, line) -> list:
    """Return boxes, in pixels, that cover a line bit by bit, and its marks."""
    point, corners = axes.figure.dpi / 72, axes.transData.transform(line.get_path().vertices)  # (n, 2)
    boxes = [_around(corner, MARK * point) for corner in corners if line.get_marker() != "None"]
    for start, end in pairwise(corners) if line.get_linestyle() != "None" else ():
        bits = 1 + int(math.dist(start, end) // (2 * point))
        boxes += [_around(start + (end - start) * bit / bits, point) for bit in range(bits + 1)]
    return boxes


def _around(middle, reach: float):
    from matplotlib.transforms import Bbox

    x, y = middle
    return Bbox.from_extents(x - reach, y - reach, x + reach, y + reach)
